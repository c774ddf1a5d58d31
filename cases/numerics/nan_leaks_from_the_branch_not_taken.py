"""where sends a zero into the branch not taken, and zero times a NaN slope is NaN; a safe inner value avoids
it.

topic: numerics
features: where, sqrt, nan
rule: torch.where
source: R121, pytorch/pytorch#187297
"""

import torch

x = torch.tensor([-1.0, -4.0, 4.0], requires_grad=True)
y = torch.where(x > 0, torch.sqrt(x), x)
y.sum().backward()
safe = torch.where(x > 0, x, torch.ones(3))
g = torch.autograd.grad(torch.where(x > 0, torch.sqrt(safe), x).sum(), x)[0]
