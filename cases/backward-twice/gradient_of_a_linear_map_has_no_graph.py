"""The gradient of a linear map is a constant: even with create_graph=True it has no graph to go back
through.

topic: backward-twice
features: create-graph, double-backward, no-grad
rule: torch.autograd.grad
source: R010, pytorch/pytorch#5479
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 2.0
c = b.sum()
d = torch.autograd.grad(c, b, create_graph=True)[0]
attached = d.requires_grad
d.sum().backward()  # raises no-grad
