"""grad of grad of grad of x**4 gives 24 x, each level built by create_graph=True.

topic: backward-twice
features: create-graph, double-backward, pow
rule: torch.autograd.grad
"""

import torch

x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
y = x**4
first = torch.autograd.grad(y, x, create_graph=True)[0]
second = torch.autograd.grad(first, x, create_graph=True)[0]
third = torch.autograd.grad(second, x, create_graph=True)[0]
fourth = torch.autograd.grad(third, x)[0]
