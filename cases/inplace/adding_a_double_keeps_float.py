"""In place the dtype never changes: a float takes a double, an int refuses a float, a float refuses a
complex.

topic: inplace
features: inplace, promotion, dtype, error
rule: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

import torch

f = torch.tensor([1.0, 2.0])
f += torch.tensor([0.5, 0.5], dtype=torch.float64)
i = torch.tensor([1, 2])
i += 1.5  # raises dtype
i += 2
i /= 2  # raises dtype
f += 1j  # raises dtype
