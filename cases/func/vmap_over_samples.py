"""vmap applies a function to all samples; in_dims and out_dims say where the batch lies.

topic: func
features: func, vmap
rule: torch.vmap
"""

import torch

x = torch.arange(6.0).reshape(2, 3)
sums = torch.vmap(lambda a: a.sum())(x)
columns = torch.vmap(lambda a: a.sum(), in_dims=1)(x)
moved = torch.vmap(lambda a: a * 2, out_dims=1)(x)
mixed = torch.vmap(lambda a, b: a * b, in_dims=(0, None))(x, torch.ones(3))
per_sample = torch.vmap(torch.func.grad(lambda a, b: (a * b).sum()), in_dims=(0, None))(x, torch.ones(3))
torch.vmap(lambda a, b: a + b)(x, torch.ones(3))  # raises shape
torch.vmap(lambda a: a.sum().item())(x)  # raises RuntimeError
torch.vmap(lambda a: a if a.sum() > 0 else -a)(x)  # raises RuntimeError
torch.vmap(lambda a: 3.0)(x)  # raises ValueError
