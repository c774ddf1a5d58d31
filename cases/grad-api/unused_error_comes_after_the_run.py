"""The error for an unused input is raised when the run is over: the graph is freed by then.

topic: grad-api
features: grad, unused-input, freed-graph
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
other = torch.tensor([1.0], requires_grad=True)
y = x.exp()
torch.autograd.grad(y, [x, other])  # raises unused-input
torch.autograd.grad(y, x)  # raises freed-graph
