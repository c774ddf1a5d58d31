"""Shares of a Dirichlet distribution have a gradient in the concentration, but no second one.

topic: random
features: distributions, dirichlet, rsample, once-differentiable, error
rule: https://docs.pytorch.org/docs/stable/distributions.html
"""

import torch

torch.manual_seed(4)
concentration = torch.tensor([0.5, 2.0, 9.0], requires_grad=True)
shares = torch.distributions.Dirichlet(concentration).rsample()
(slope,) = torch.autograd.grad(shares[0].pow(2), concentration, create_graph=True)
slope.sum().backward()  # raises RuntimeError
