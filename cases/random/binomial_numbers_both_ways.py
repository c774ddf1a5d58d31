"""Binomial numbers are counted out where few are expected and drawn by rejection where many are.

topic: random
features: distributions, binomial, manual-seed
rule: https://docs.pytorch.org/docs/stable/distributions.html
"""

import torch

torch.manual_seed(8)
count = torch.tensor([5.0, 40.0, 40.0, 1000.0])
prob = torch.tensor([0.5, 0.1, 0.9, 0.3])
drawn = torch.binomial(count, prob)
binomial = torch.distributions.Binomial(count, prob)
again = binomial.sample((2,))
after = torch.rand(2)
binomial.rsample()  # raises NotImplementedError
binomial = None
