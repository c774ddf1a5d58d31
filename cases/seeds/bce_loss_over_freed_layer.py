"""A second loss built on the same linear output shares its freed part of the graph, so its backward raises.

topic: seeds
features: backward, freed-graph, bce-with-logits, matmul
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
source: seeds 000, fragment 1
"""

import torch

x = torch.ones(5)  # input tensor
y = torch.zeros(3)  # expected output
w = torch.randn(5, 3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
z = torch.matmul(x, w)+b

loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
loss.backward()

loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
loss.backward()  # raises freed-graph
