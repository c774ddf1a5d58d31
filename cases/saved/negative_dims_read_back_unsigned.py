"""A saved dimension of -1 is kept as the caller gave it and read back as an unsigned number.

topic: saved
features: saved-tensors, dimension, sum
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.ones(2, 3, requires_grad=True)
softmax = x.softmax(-1).grad_fn._saved_dim
logsumexp = x.logsumexp(-1).grad_fn._saved_dim
turned = x.transpose(-1, 0).grad_fn._saved_dim0
large = softmax == 2**64 - 1
