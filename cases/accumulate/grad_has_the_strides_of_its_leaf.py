"""A dense leaf gets a grad with its own strides, even when the gradient arrives in another layout.

topic: accumulate
features: accumulate, strides, transpose
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

import torch

rows = torch.ones(3, 2, requires_grad=True)
(rows * 1.0).backward(torch.ones(2, 3).t())
columns = torch.ones(2, 3).t().requires_grad_()
(columns * 1.0).backward(torch.ones(3, 2))
strided = torch.ones(4)[::2].requires_grad_()
(strided * 1.0).backward(torch.ones(2))
strides = [rows.grad.stride(), columns.grad.stride(), strided.grad.stride()]
