"""Pieces of split, chunk and unbind refuse in-place writes; a selected row and the diagonal take them.

topic: views
features: multi-view, split, chunk, unbind, select, diagonal, view-inplace
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
source: R050, pytorch/pytorch#31258
"""

import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
base = x.clone()
base.split(1)[0].add_(1.0)  # raises view-inplace
base.chunk(2)[1].add_(1.0)  # raises view-inplace
base.unbind(1)[0].add_(1.0)  # raises view-inplace
base[0].add_(1.0)
base.select(0, 1).add_(1.0)
base.diagonal().mul_(2.0)
base.sum().backward()
