"""When the linear output is computed again before the second loss, both passes run and the leaves hold the
sum.

topic: seeds
features: backward, accumulate, bce-with-logits, matmul
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
source: seeds 000, fragment 2
"""

import torch

x = torch.ones(5)  # input tensor
y = torch.zeros(3)  # expected output
w = torch.randn(5, 3, requires_grad=True)
b = torch.randn(3, requires_grad=True)
z = torch.matmul(x, w)+b

loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
loss.backward()

z = torch.matmul(x, w)+b
loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y)
loss.backward()
