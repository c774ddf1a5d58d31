"""Filling a buffer that requires grad by out[0][0] = ... writes to a view of a leaf and is refused; a plain
buffer takes it.

topic: leaf
features: leaf-inplace, index-assignment, select
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
source: R016, pytorch/pytorch#53348
"""

import torch

out = torch.zeros(2, 2, requires_grad=True)
a = torch.tensor([1.0, 2.0], requires_grad=True)
out[0][0] = a[0]  # raises leaf-inplace
buffer = torch.zeros(2, 2)
buffer[0][0] = a[0] * a[1]
buffer.sum().backward()
