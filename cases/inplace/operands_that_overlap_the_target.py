"""A write is refused when an operand shows part of the same memory, or all of it in another order.

topic: inplace
features: overlap, views, errors
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

x = torch.arange(6.0)
x[1:].add_(x[:-1])  # raises RuntimeError
x[:3].mul_(x[3:])
x[:4].mul_(x[2:])  # raises RuntimeError
m = torch.arange(4.0).view(2, 2)
m.add_(m.t())  # raises RuntimeError
m.mul_(m.view(2, 2))
m.view(4).add_(m.view(1, 4)[0])
m.view(4).sub_(m.view(4, 1))  # raises RuntimeError
x[:1].add_(x[:1])
x[:1].add_(x[1:2])
x[:0].add_(x[:0])
x[:0].add_(x[:1])
x[:1].add_(x[:0])  # raises RuntimeError
x[::2].add_(x[1::2])
torch.ones(4)[:2].add_(torch.ones(4)[1:3])
m.add_(torch.ones(2, 2, 2))  # raises RuntimeError
m[0].add_(torch.ones(2, 2))  # raises RuntimeError
print(x, m)
