"""A Hessian times a vector is the gradient of the gradient, with the vector as grad_outputs.

topic: backward-twice
features: create-graph, double-backward, gradient-argument
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
v = torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64)
loss = (x.exp() * x).sum() + x.prod()
gradient = torch.autograd.grad(loss, x, create_graph=True)[0]
product = torch.autograd.grad(gradient, x, grad_outputs=v)[0]
