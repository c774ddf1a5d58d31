"""A straight-through sample is one-hot, and its gradient is that of the probabilities.

topic: random
features: distributions, one-hot, straight-through
rule: https://docs.pytorch.org/docs/stable/distributions.html
"""

import torch

torch.manual_seed(6)
logits = torch.tensor([[0.0, 1.0, -1.0], [2.0, 0.0, 0.5]], requires_grad=True)
straight = torch.distributions.OneHotCategoricalStraightThrough(logits=logits)
sample = straight.rsample()
values = torch.tensor([1.0, 2.0, 3.0])
(sample * values).sum().backward()
straight = None
