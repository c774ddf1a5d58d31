"""Gradients meet in order of arrival, later-made branches first, so float32 sums depend on the order of the
forward.

topic: engine
features: engine, accumulate, rounding, stack
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
u = a * 1e8
v = a * 1.0
w = a * -1e8
torch.stack([u, v, w]).sum().backward()
first = a.grad
a.grad = None
v = a * 1.0
u = a * 1e8
w = a * -1e8
torch.stack([u, v, w]).sum().backward()
second = a.grad
