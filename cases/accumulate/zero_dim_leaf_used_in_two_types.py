"""A 0-dim leaf that is used as it is and in another type: the second gradient is added to the first in place.

topic: accumulate
features: zero-dim, dtype, in-place-accumulation, version
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
source: generated
"""

import torch

a = torch.tensor(1.0, requires_grad=True)
wide = a.to(torch.float64)
(a * wide).backward()
print(a.grad, a.grad._version)
b = torch.tensor(-2.0, requires_grad=True)
(b.abs() * b.abs()).backward(create_graph=True)
slope, = torch.autograd.grad(b.abs().square(), b, create_graph=True)
curve, = torch.autograd.grad(slope, b)
print(curve._version)
row = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64, requires_grad=True)
narrow = row.to(torch.float32)
torch.autograd.backward([narrow, torch.stack([row, row])], [torch.ones(1, 3), torch.ones(2, 1, 3)])
print(row.grad, row.grad._version)
