"""The derivative of abs is constant, so its own gradient is zero; PyTorch keeps that zero without memory in grad,
and the next backward cannot add to it.

topic: backward-twice
features: create-graph, double-backward, accumulate, torch-bug
rule: torch.Tensor.backward
"""

import torch

x = torch.tensor([1.0, -2.0], requires_grad=True)
g = torch.autograd.grad(x.abs().sum(), x, create_graph=True)[0]
g.sum().backward()
x.sum().backward()  # raises RuntimeError
