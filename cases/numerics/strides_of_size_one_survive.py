"""Dimensions of size 1 keep their strides where a number takes part, and get new ones where only tensors do.

topic: numerics
features: strides, size-one, comparison, hardtanh, silu, nan_to_num
rule: torch.Tensor.stride
"""

import torch
import torch.nn.functional as F

x = torch.tensor([[-1.0], [0.5], [7.0]], dtype=torch.float64).t().requires_grad_()
print(x.shape, x.stride())
with_number = [x > 0, x.remainder(2), x * 2, x.deg2rad(), F.hardtanh(x), x.nan_to_num(), x.copysign(-1)]
print([t.stride() for t in with_number])
alone = [x.exp(), F.silu(x), F.mish(x), x.log1p(), x.clamp(min=0)]
print([t.stride() for t in alone])
grads = [torch.autograd.grad(t.sum(), x)[0] for t in with_number[1:] + alone]
print([g.stride() for g in grads])
given = torch.ones_like(x)
print([torch.autograd.grad(t, x, given)[0].stride() for t in (x * 2, x / 3, x ** 0)])
