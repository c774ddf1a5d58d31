"""clamp passes NaN on with slope 1 at the bounds and 0 outside; with crossed bounds the upper one wins.

topic: numerics
features: clamp, nan, subgradient
rule: torch.clamp
"""

import torch

x = torch.tensor([-2.0, -1.0, 0.5, 1.0, 2.0, float("nan")], requires_grad=True)
y = x.clamp(-1.0, 1.0)
y.sum().backward()
crossed = x.clamp(2.0, -2.0)
of_crossed = torch.autograd.grad(crossed.sum(), x)[0]
half_open = torch.autograd.grad(x.clamp(min=0.5).sum(), x)[0]
