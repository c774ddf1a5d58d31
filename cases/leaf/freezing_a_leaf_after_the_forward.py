"""A leaf that stops requiring grad after the forward gets no grad from the graph that still leads to it.

topic: leaf
features: leaf, requires-grad, accumulate
rule: torch.Tensor.requires_grad_
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = torch.tensor([2.0], requires_grad=True)
c = a * b
a.requires_grad_(False)
c.backward()
