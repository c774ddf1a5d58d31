"""Forward over forward agrees with reverse over reverse; PyTorch's slogdet gets the former wrong.

topic: func
features: func, jvp, nested, slogdet
rule: torch.func.jvp
source: R178, pytorch/pytorch#196697
"""

import torch

diagonal = lambda t: torch.diag(torch.stack([t * t + 1.0, torch.full_like(t, 4.0)]))
f = lambda t: torch.linalg.slogdet(diagonal(t))[1]
t = torch.tensor(1.5, dtype=torch.float64)
first = lambda s: torch.func.jvp(f, (s,), (torch.ones_like(s),))[1]
slope = first(t)
second = torch.func.jvp(first, (t,), (torch.ones_like(t),))[1]
reverse = torch.func.grad(torch.func.grad(f))(t)
print(reverse)
