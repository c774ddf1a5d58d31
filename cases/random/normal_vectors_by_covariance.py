"""Normal vectors are made by the Cholesky factor, through which the gradient reaches the covariance.

topic: random
features: distributions, cholesky, rsample, kl
rule: https://docs.pytorch.org/docs/stable/distributions.html
"""

import torch

from torch.distributions import LowRankMultivariateNormal, MultivariateNormal, kl_divergence

torch.manual_seed(7)
covariance = torch.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)
vectors = MultivariateNormal(torch.zeros(2), covariance)
sample = vectors.rsample((3,))
g = torch.autograd.grad(sample.pow(2).sum(), covariance, retain_graph=True)
low = LowRankMultivariateNormal(torch.ones(2), torch.tensor([[1.0], [0.5]]), torch.ones(2))
divergences = [kl_divergence(vectors, low), kl_divergence(low, vectors)]
sum(divergences).backward()
MultivariateNormal(torch.zeros(2), -torch.eye(2))  # raises ValueError
vectors = low = None
