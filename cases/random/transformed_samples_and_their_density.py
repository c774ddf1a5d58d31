"""A transformed sample keeps its graph; a cache of one pair gives the density the sample before the transform.

topic: random
features: distributions, transforms, cache, rsample
rule: https://docs.pytorch.org/docs/stable/distributions.html
"""

import torch

from torch.distributions import AffineTransform, Normal, TanhTransform, TransformedDistribution

torch.manual_seed(5)
loc = torch.tensor([0.5, -1.0], requires_grad=True)
squash = TanhTransform(cache_size=1)
squashed = TransformedDistribution(Normal(loc, 2.0), [AffineTransform(loc, 3.0), squash])
sample = squashed.rsample()
before = squash.inv(sample)
kept = squash(before) is sample
density = squashed.log_prob(sample)
density.sum().backward()
shown = repr(squash.inv)
squash = squashed = None
