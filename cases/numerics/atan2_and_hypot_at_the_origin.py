"""At the origin atan2 has gradient zero, while hypot's is NaN.

topic: numerics
features: atan2, hypot, nan, signed-zero
rule: torch.atan2
source: R130, pytorch/pytorch#165427
"""

import torch

y = torch.tensor([0.0, 1.0], requires_grad=True)
x = torch.tensor([0.0, 1.0], requires_grad=True)
torch.atan2(y, x).sum().backward()
of_hypot = torch.autograd.grad(torch.hypot(y, x).sum(), (y, x))
