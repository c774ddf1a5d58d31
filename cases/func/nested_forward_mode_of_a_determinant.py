"""Forward over forward agrees with reverse over reverse; PyTorch's forward rule of det is not differentiable.

topic: func
features: func, jvp, nested, det, torch-bug
rule: torch.linalg.det
"""

import torch

matrix = torch.tensor([[2.0, 1.0], [0.5, 3.0]], dtype=torch.float64)
f = lambda t: torch.linalg.det(matrix * t + torch.eye(2, dtype=torch.float64) * t * t)
t = torch.tensor(1.5, dtype=torch.float64)
first = lambda s: torch.func.jvp(f, (s,), (torch.ones_like(s),))[1]
slope = first(t)
reverse = torch.func.grad(torch.func.grad(f))(t)
mixed = torch.func.jvp(torch.func.grad(f), (t,), (torch.ones_like(t),))[1]
second = torch.func.jvp(first, (t,), (torch.ones_like(t),))[1]
