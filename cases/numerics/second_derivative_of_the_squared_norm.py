"""norm(x)**2 at zero has gradient zero but a NaN second derivative; the sum of squares has the true one.

topic: numerics
features: norm, pow, double-backward, nan
rule: torch.linalg.norm
source: R140, jax-ml/jax#4177
"""

import torch

x = torch.zeros(2, requires_grad=True)
g = torch.autograd.grad(torch.linalg.norm(x) ** 2, x, create_graph=True)[0]
row = torch.autograd.grad(g[0], x)[0]
g = torch.autograd.grad((x**2).sum(), x, create_graph=True)[0]
true_row = torch.autograd.grad(g[0], x)[0]
