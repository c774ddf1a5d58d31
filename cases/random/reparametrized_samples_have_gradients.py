"""`rsample` is a function of the parameters, `sample` is not; both draw the same numbers.

topic: random
features: distributions, rsample
rule: torch.distributions.normal.Normal
"""

import torch

loc = torch.tensor([0.0, 1.0], requires_grad=True)
scale = torch.tensor([1.0, 0.5], requires_grad=True)
normal = torch.distributions.Normal(loc, scale)
torch.manual_seed(1)
with_graph = normal.rsample()
torch.manual_seed(1)
without = normal.sample()
same = torch.equal(with_graph, without)
g = torch.autograd.grad(with_graph.sum(), [loc, scale])
h = torch.autograd.grad(normal.log_prob(without).sum(), [loc, scale])
divergence = torch.distributions.kl_divergence(normal, torch.distributions.Normal(0.0, 1.0))
normal = None
