"""grad can be applied to what it returns; detach and no_grad cut inside.

topic: func
features: func, grad, nested
rule: torch.func.grad
"""

import torch

x = torch.tensor(2.0)
second = torch.func.grad(torch.func.grad(lambda t: t**4))(x)
cut = torch.func.grad(lambda t: t.detach() * t)(x)


def f(t):
    with torch.no_grad():
        c = t**2
    return t * c


fixed = torch.func.grad(f)(x)
