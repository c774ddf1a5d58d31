"""A gradient edge taken from a tensor serves as an input of grad and, with a gradient, as an output.

topic: grad-api
features: grad, gradient-edge
rule: torch.autograd.graph.get_gradient_edge
source: R172, pytorch/pytorch#127766
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3.0
z = (y**2).sum()
edge = torch.autograd.graph.get_gradient_edge(y)
at_edge = torch.autograd.grad(z, edge, retain_graph=True)[0]
at_leaf = torch.autograd.grad(edge, x, grad_outputs=at_edge)[0]
