"""mul_ saves a copy of the old value for the other factor's gradient, so the overwritten number is not lost.

topic: inplace
features: inplace, mul, saved-tensors
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
w = torch.tensor([5.0, 7.0], requires_grad=True)
y = x + 0.0
y.mul_(w)
y.mul_(w)
y.sum().backward()
