"""With create_graph=True a hook's replacement is part of the graph, so the second derivative sees it.

topic: hooks
features: hooks, create-graph, double-backward
rule: torch.Tensor.register_hook
"""

import torch

x = torch.tensor([2.0], requires_grad=True)
y = x**2
h = y.register_hook(lambda g: g * x)
g = torch.autograd.grad(y, x, create_graph=True)[0]
second = torch.autograd.grad(g, x)[0]
