"""View nodes save sizes and arguments, never tensors, so they can be walked any number of times.

topic: saved
features: saved-tensors, view, transpose, select
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.ones(2, 3, requires_grad=True)
viewed = x.view(6).grad_fn._saved_self_sym_sizes
turned = x.transpose(0, 1).grad_fn
dims = (turned._saved_dim0, turned._saved_dim1)
selected = x[1].grad_fn
chosen = (selected._saved_dim, selected._saved_index)
summed = x.sum(1).grad_fn._saved_dim
