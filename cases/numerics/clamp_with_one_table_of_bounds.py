"""clamp takes a whole table of lower bounds, or of upper ones, alone; where a bound is met the gradient is the
element's.

topic: numerics
features: clamp, bounds, ties
rule: torch.clamp
"""

import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
low = torch.tensor([[1.0, 5.0], [0.0, 4.0]], requires_grad=True)
torch.clamp(x, low).sum().backward()
capped = torch.clamp(x, max=low.t())
of_capped = torch.autograd.grad(capped.sum(), (x, low))
torch.clamp(x, torch.ones(3, 3))  # raises shape
x.detach().clamp_(max=torch.ones(3))  # raises shape
