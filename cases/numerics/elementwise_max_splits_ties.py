"""Element-wise max and min of equal numbers give each operand half of the gradient; fmax gives it all to the
first.

topic: numerics
features: maximum, minimum, fmax, ties, subgradient
rule: torch.maximum
source: R113, pytorch/pytorch#56734
"""

import torch

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = torch.tensor([1.0, 5.0, 0.0], requires_grad=True)
torch.max(a, b).sum().backward()
of_fmax = torch.autograd.grad(torch.fmax(a, b).sum(), (a, b))
of_minimum = torch.autograd.grad(torch.minimum(a, b).sum(), (a, b))
