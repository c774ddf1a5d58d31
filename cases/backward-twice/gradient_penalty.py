"""A penalty on the norm of the input gradient sends gradients to the weights through the first backward.

topic: backward-twice
features: create-graph, double-backward, matmul, tanh
rule: torch.autograd.grad
"""

import torch

w = torch.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
x = torch.tensor([[1.0, -2.0]], requires_grad=True)
out = torch.tanh(x @ w).sum()
g = torch.autograd.grad(out, x, create_graph=True)[0]
penalty = (g.norm() - 1.0) ** 2
penalty.backward()
