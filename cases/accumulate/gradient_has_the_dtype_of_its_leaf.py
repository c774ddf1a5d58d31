"""A float32 and a float64 leaf meet in a float64 product, and each grad comes back in its leaf's dtype.

topic: accumulate
features: accumulate, promotion, dtype
rule: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

import torch

single = torch.tensor([1.0, 2.0], requires_grad=True)
double = torch.tensor([0.1, 0.2], dtype=torch.float64, requires_grad=True)
half = torch.tensor([2.0, 4.0], dtype=torch.float16, requires_grad=True)
product = single * double * half
product.sum().backward()
kinds = [single.grad.dtype, double.grad.dtype, half.grad.dtype]
