"""A number beside a tensor leaves the strides of dimensions of size one; a number to a power makes a new layout.

topic: numerics
features: strides, scalar operand, pow, double backward, mse_loss
rule: torch.Tensor.stride
source: found by refgrad fuzz
"""

import torch
import torch.nn.functional as F

row = torch.ones(2, 1).t()
doubled = row * 2.0
negative = -row
rest = 2.0 % row
logarithm = torch.xlogy(2.0, row)
within = torch.clamp(row, row)

wide = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).t()
powers = 2.0**wide
squares = wide**2.0

a = torch.tensor([[1.0], [2.0]], requires_grad=True)
c = a.transpose(-2, -1)
f = F.mse_loss(c, c)
m = torch.autograd.grad(f, a, create_graph=True)[0]
m.backward(torch.tensor([[2.0], [3.0]]))
