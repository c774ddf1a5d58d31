"""At the zero vector the 2-, 1-, 3- and maximum norm all have gradient 0; equal maxima share the gradient.

topic: numerics
features: norm, subgradient, ties
rule: torch.linalg.vector_norm
"""

import torch

x = torch.zeros(3, requires_grad=True)
of_two = torch.autograd.grad(x.norm(), x)[0]
of_one = torch.autograd.grad(x.norm(1), x)[0]
of_three = torch.autograd.grad(x.norm(3), x)[0]
of_max = torch.autograd.grad(x.norm(float("inf")), x)[0]
ties = torch.tensor([3.0, -3.0, 1.0], requires_grad=True)
of_tied_max = torch.autograd.grad(ties.norm(float("inf")), ties)[0]
