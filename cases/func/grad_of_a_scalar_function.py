"""grad returns a function; argnums chooses, has_aux passes on, and the value can come along.

topic: func
features: func, grad
rule: torch.func.grad, torch.func.grad_and_value
"""

import torch

x = torch.tensor([1.0, 2.0])
y = torch.tensor([3.0, 4.0])
f = lambda a, b: (a * b).sum()
first = torch.func.grad(f)(x, y)
both = torch.func.grad(f, argnums=(0, 1))(x, y)
g, value = torch.func.grad_and_value(f)(x, y)
g, aux = torch.func.grad(lambda a: ((a**2).sum(), {"twice": a * 2}), has_aux=True)(x)
torch.func.grad(lambda a: a**2)(x)  # raises RuntimeError
torch.func.grad(f, argnums=2)(x, y)  # raises RuntimeError
