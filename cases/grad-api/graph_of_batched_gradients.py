"""Batched gradients that are recorded have the graph of one pass over the batch.

topic: grad-api
features: is_grads_batched, create_graph, next_functions, ViewBackward0
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
cubes = torch.autograd.grad(x**3, x, torch.eye(2), is_grads_batched=True, create_graph=True)[0]
cubes.sum().backward()
x.grad
weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
part = weight * x
batch = torch.ones(3, 2, 2)
both = torch.autograd.grad(part.exp(), (x, weight), batch, is_grads_batched=True, create_graph=True)
joint = torch.autograd.functional.jacobian(lambda t: (weight @ t).tanh(), x.detach(), vectorize=True)
