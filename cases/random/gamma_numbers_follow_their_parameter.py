"""A gamma number is drawn by rejection, and yet its gradient follows the concentration.

topic: random
features: distributions, gamma, rsample
rule: https://docs.pytorch.org/docs/stable/distributions.html
"""

import torch

torch.manual_seed(3)
concentration = torch.tensor([0.2, 1.0, 2.5, 30.0], requires_grad=True)
rate = torch.tensor(2.0, requires_grad=True)
drawn = torch.distributions.Gamma(concentration, rate).rsample((2,))
drawn.sum().backward()
after = torch.rand(2)
