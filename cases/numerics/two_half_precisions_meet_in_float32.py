"""float16 and bfloat16 promote to float32, and each gradient returns in its operand's own type.

topic: numerics
features: bfloat16, float16, promotion, gradient-dtype
rule: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

import torch

half = torch.tensor([1.5, 2.0], dtype=torch.float16, requires_grad=True)
brain = torch.tensor([0.1, 3.0], dtype=torch.bfloat16, requires_grad=True)
product = half * brain
print(product.dtype, torch.promote_types(torch.float16, torch.bfloat16), half.to(torch.bfloat16).dtype)
product.sum().backward()
print(half.grad, brain.grad)
print((brain * torch.tensor(2.0)).dtype, (brain * torch.ones(2)).dtype, (brain + 1j).dtype)
written = brain.detach().clone()
written += torch.tensor([0.001, 1.0])
refused = torch.mm(torch.ones(2, 2, dtype=torch.bfloat16), torch.ones(2, 2))  # raises dtype
