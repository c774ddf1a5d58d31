"""At zero relu, abs and floor have slope 0, leaky_relu has its negative slope, and sqrt an infinite one.

topic: numerics
features: relu, abs, sqrt, sign, subgradient
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#gradients-for-non-differentiable-functions
"""

import torch
import torch.nn.functional as F

x = torch.tensor([0.0, -0.0], requires_grad=True)
of_relu = torch.autograd.grad(torch.relu(x).sum(), x)[0]
of_leaky = torch.autograd.grad(F.leaky_relu(x, 0.25).sum(), x)[0]
of_abs = torch.autograd.grad(x.abs().sum(), x)[0]
of_sqrt = torch.autograd.grad(x.sqrt().sum(), x)[0]
of_floor = torch.autograd.grad(x.floor().sum(), x)[0]
