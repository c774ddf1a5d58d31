"""What is written through a transposed view gets its gradient in contiguous memory, so a leaf takes it as it is.

topic: inplace
features: CopySlices, transpose, strides, version
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
source: generated
"""

import torch

leaf = torch.eye(2, requires_grad=True)
view = torch.arange(4.0).reshape(2, 2).t()
view -= leaf
view.sum().backward()
print(leaf.grad.stride(), leaf.grad._version)
base = torch.zeros(2, 2, 2)
rows = torch.ones(2, 2, requires_grad=True)
base.transpose(-2, -1)[-1] = rows
gradient, = torch.autograd.grad(base.sum(), rows)
print(gradient.stride())
both = torch.ones(2, 2, requires_grad=True)
doubled = both + both
doubled.t().sub_(both)
doubled.sum().backward()
print(both.grad, both.grad._version)
