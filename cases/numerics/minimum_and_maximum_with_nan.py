"""maximum and minimum pass NaN on from either side, and both operands then get the whole gradient.

topic: numerics
features: maximum, minimum, nan
rule: torch.maximum
"""

import torch

x = torch.tensor([float("nan"), 1.0, 2.0], requires_grad=True)
y = torch.tensor([1.0, float("nan"), 2.0], requires_grad=True)
z = torch.maximum(x, y)
z.sum().backward()
w = torch.minimum(x, y)
of_minimum = torch.autograd.grad(w.sum(), (x, y))
