"""Operands that are cast for the common type count with their own strides when the result is laid out.

topic: numerics
features: promotion, expand, strides
rule: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
source: generated
"""

import torch

column = torch.tensor([[1], [2]])
wide = column.expand(2, 2, 1)
equal = wide == torch.tensor(1.0)
total = wide + torch.ones(2, 2, 1)
power = torch.exp(wide)
print(equal.stride(), total.stride(), power.stride())
factor = torch.tensor([[1.0], [2.0]], dtype=torch.float64)
rows = torch.tensor([1.0, 2.0, 3.0]).expand(2, 3)
print((rows * factor).stride(), (rows - factor).stride(), (torch.tensor(1.0) + torch.tensor([1, 2]).expand(3, 2)).stride())
