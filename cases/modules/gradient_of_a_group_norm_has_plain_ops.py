"""The gradient of a group norm with a graph is composed of plain ops; sums get their last dimension back in place.

topic: modules
features: group-norm, create-graph, graph
rule: torch.nn.GroupNorm
"""

import torch

x = torch.tensor([[[0.5, -1.0], [2.0, 1.0]], [[1.5, 0.0], [-2.0, 3.0]]], requires_grad=True)
norm = torch.nn.GroupNorm(1, 2)
of_input, of_weight = torch.autograd.grad((norm(x) ** 2).sum(), [x, norm.weight], create_graph=True)
product = of_weight.grad_fn.next_functions[0][0].next_functions[0][0]
names = [function.name() for function, _ in product.next_functions]
(of_input**2).sum().backward()
