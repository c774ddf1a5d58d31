"""No in-place operation is allowed on a leaf that requires grad, and a refused one leaves value and version
alone.

topic: leaf
features: leaf-inplace, error, version-counter
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
x.zero_()  # raises leaf-inplace
x += 1.0  # raises leaf-inplace
x[:] = 0.0  # raises leaf-inplace
x[0] = 5.0  # raises leaf-inplace
version = x._version
