"""jacrev makes a Jacobian row by row and jacfwd column by column; the result mirrors the structure of outputs
and inputs.

topic: func
features: func, jacrev, jacfwd, hessian
rule: torch.func.jacrev, torch.func.jacfwd, torch.func.hessian
"""

import torch

x = torch.tensor([1.0, 2.0])
y = torch.tensor([3.0, 4.0, 5.0])
f = lambda a, b: (a.sum() * b, {"k": (a**2).sum()})
rows = torch.func.jacrev(f, argnums=(0, 1))(x, y)
h = torch.func.hessian(lambda t: (t**3).sum())(x)
forward = torch.func.jacfwd(lambda t: t**2)(x)
torch.func.jacrev(lambda t: t * 1j)(x)  # raises RuntimeError
