"""A number that multiplies or divides half precision keeps its own precision, one that is added is rounded
first.

topic: numerics
features: bfloat16, float16, number, rounding, promotion
rule: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

import torch

for dtype in (torch.bfloat16, torch.float16):
    x = torch.tensor([0.7, 3.1, 29.0], dtype=dtype, requires_grad=True)
    number = torch.tensor(1.1, dtype=torch.float64)
    print(x * 1.1, x / 1.1, x + 1.1, x - 1.1, 1.1 / x, x**1.1)
    print(x * number, number * x, x / number)
    (gradient,) = torch.autograd.grad((x * 1.1 / 0.3).sum(), x)
    print(gradient, gradient.dtype)
