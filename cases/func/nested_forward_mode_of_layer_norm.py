"""Forward over forward agrees with reverse over reverse; PyTorch's forward rule of layer norm is not differentiable.

topic: func
features: func, jvp, nested, layer_norm, torch-bug
rule: torch.nn.functional.layer_norm
"""

import torch

curve = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
weights = torch.tensor([1.0, 3.0, -2.0], dtype=torch.float64)
f = lambda t: (torch.nn.functional.layer_norm(curve * t * t + t, (3,), eps=0.5) * weights).sum()
t = torch.tensor(1.5, dtype=torch.float64)
first = lambda s: torch.func.jvp(f, (s,), (torch.ones_like(s),))[1]
slope = first(t)
reverse = torch.func.grad(torch.func.grad(f))(t)
mixed = torch.func.jvp(torch.func.grad(f), (t,), (torch.ones_like(t),))[1]
second = torch.func.jvp(first, (t,), (torch.ones_like(t),))[1]
