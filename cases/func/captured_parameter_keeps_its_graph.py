"""The gradient that func.grad returns depends on a captured tensor that requires grad, and only on that.

topic: func
features: func, grad, graph
rule: torch.func.grad
"""

import torch

w = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(2.0)
g = torch.func.grad(lambda t: t**2 * w)(x)
g.backward()
h = torch.func.grad(lambda t: t**2)(w)
with torch.no_grad():
    n = torch.func.grad(lambda t: t**2 * w)(x)
