"""Given data of another shape, a leaf keeps the accumulator that its graph holds, and with it the old shape.

topic: leaf
features: data, accumulate-grad, error
rule: torch.autograd
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
square = x * x
x.data = torch.tensor([3.0, 4.0, 5.0])
(x * 2.0).sum().backward()  # raises RuntimeError
square.sum().backward()  # raises RuntimeError
del square
(x * 2.0).sum().backward()
y = torch.tensor([1.0, 2.0], requires_grad=True)
double = y * 2.0
y.data = torch.ones(2, 2)
(y * 3.0).sum().backward()
x.data = x.data.double()
(x * 2.0).sum().backward()
