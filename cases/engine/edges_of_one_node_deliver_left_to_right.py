"""A leaf that one node uses three times sums its parts from left to right.

topic: engine
features: engine, stack, rounding
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
stacked = torch.stack([a, a, a])
stacked.backward(torch.tensor([[1e8], [1.0], [-1e8]]), retain_graph=True)
lost = a.grad
a.grad = None
stacked.backward(torch.tensor([[1e8], [-1e8], [1.0]]))
