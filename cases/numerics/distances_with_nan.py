"""A NaN difference makes every distance NaN but the greatest; margin losses do not see NaN at all.

topic: numerics
features: cdist, margin-loss, nan
rule: torch.cdist
"""

import torch

nan, inf = float("nan"), float("inf")
a = torch.tensor([[1.0, nan, 2.0]], requires_grad=True)
zero = torch.zeros(1, 3)
count, sum, greatest = (torch.cdist(a, zero, p) for p in (0.0, 1.0, inf))
of_greatest = torch.autograd.grad(greatest.sum(), a)[0]
pairs = torch.pdist(torch.tensor([[0.0, nan], [1.0, 1.0]]), 0.0)
x = torch.tensor([[0.5, nan, 0.25]], requires_grad=True)
torch.nn.functional.multi_margin_loss(x, torch.tensor([0])).backward()
