"""The function sees new tensors: leaves without create_graph, views that lead back with it.

topic: functional
features: functional, vjp, create-graph, leaf
rule: torch.autograd.functional.vjp
source: transforms D6
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.ones(2)


def look(t):
    print(t is x, t.is_leaf, t.requires_grad, t._is_view())
    return t**2


a, b = torch.autograd.functional.vjp(look, x, v)
c, d = torch.autograd.functional.vjp(look, x, v, create_graph=True)
e = torch.autograd.functional.jacobian(lambda t: t * x, x)
d.sum().backward()
