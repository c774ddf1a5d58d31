"""The output of vjp and the function it comes with have graphs of their own: freeing one leaves the other.

topic: func
features: func, vjp, graph, freed-graph
rule: torch.func.vjp
"""

import torch

x = torch.tensor([1.0, 3.0])
p = torch.tensor([1.0, 2.0], requires_grad=True)


def written(t):
    u = t * p
    u[0].mul_(p[0])
    return u.exp_().sum()


output, pull = torch.func.vjp(written, x)
output.backward()
(slope,) = pull(torch.tensor(1.0))
again = pull(torch.tensor(2.0))
slope.sum().backward()  # raises freed-graph
output, pull = torch.func.vjp(lambda t: (t * t * p).sum(), p)
(slope,) = torch.autograd.grad(output, p, create_graph=True)
torch.autograd.grad(slope.sum(), p)
pull(torch.tensor(1.0))
output.backward()  # raises freed-graph
