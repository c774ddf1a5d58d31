"""No divergence is known between two exponential families; within one, it follows from the normaliser.

topic: errors
features: distributions, kl, error
rule: https://docs.pytorch.org/docs/stable/distributions.html
"""

import torch

from torch.distributions import Bernoulli, Categorical, ExponentialFamily, Normal, kl_divergence


class Waiting(ExponentialFamily):
    arg_constraints = {}
    _mean_carrier_measure = 0

    def __init__(self, rate):
        self.rate = rate
        super().__init__(rate.shape)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -torch.log(-x)


kl_divergence(Normal(0.0, 1.0), Bernoulli(0.5))  # raises NotImplementedError
kl_divergence(Categorical(torch.ones(2)), Bernoulli(0.5))  # raises NotImplementedError
rate = torch.tensor([1.0, 2.0], requires_grad=True)
divergence = kl_divergence(Waiting(rate), Waiting(rate * 2.0))
entropy = Waiting(rate).entropy()
divergence.sum().backward()
