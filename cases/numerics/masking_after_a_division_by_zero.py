"""A quotient by zero that is masked away afterwards still makes the gradient NaN.

topic: numerics
features: where, div, nan
rule: torch.where
source: R123, pytorch/pytorch#16317
"""

import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
n = torch.tensor([0.0, 2.0])
y = torch.where(n == 0, torch.zeros(2), x / n)
y.sum().backward()
