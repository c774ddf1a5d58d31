"""A differentiable value assigned into a row of a constant turns the constant into a non-leaf; both operands
get gradients.

topic: leaf
features: leaf, index-assignment, div
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
source: R022, PaddlePaddle/Paddle#38014
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([4.0, 5.0], requires_grad=True)
d = torch.zeros(2, 2)
leaf_before = d.is_leaf
d[0] = a / b
leaf_after = d.is_leaf
d[0].sum().backward()
