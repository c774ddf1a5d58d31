"""After backward(create_graph=True) grad has a graph of its own; backward through it adds into the very same
grad.

topic: backward-twice
features: create-graph, double-backward, accumulate, warning
rule: torch.Tensor.backward
source: R009, pytorch/pytorch#4661
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3
y.backward(create_graph=True)
g = x.grad
attached = g.requires_grad
g.backward()
same = x.grad is g
still_attached = x.grad.requires_grad
