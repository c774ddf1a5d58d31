"""A view of a leaf that requires grad refuses writes with its own text; under no_grad they reach the leaf.

topic: leaf
features: leaf-inplace, view, no-grad
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
part = x[:2]
part.mul_(2.0)  # raises leaf-inplace
part.view(1, 2).zero_()  # raises leaf-inplace
with torch.no_grad():
    part.mul_(2.0)
(x * x).sum().backward()
