"""cos at infinity stands in the branch not taken; its slope is NaN, and so is the gradient.

topic: numerics
features: where, cos, infinity, nan
rule: torch.where
source: R125, pytorch/pytorch#18287
"""

import torch

x = torch.tensor([0.0, float("inf")], requires_grad=True)
y = torch.where(x < 1.0, torch.cos(x), torch.zeros(2))
g = torch.autograd.grad(y.sum(), x)[0]
