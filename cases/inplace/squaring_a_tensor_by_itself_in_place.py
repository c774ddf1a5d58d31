"""y.mul_(y) saves its other operand, which is the tensor it overwrites, so backward fails.

topic: inplace
features: inplace, mul, version-counter
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x + 0.0
y.mul_(y)
y.sum().backward()  # raises version-mismatch
