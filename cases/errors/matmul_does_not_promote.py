"""Matrix products do not promote: both operands must have one dtype.

topic: errors
features: dtype, matmul, error
rule: torch.matmul
"""

import torch

m = torch.ones(2, 2, requires_grad=True)
d = torch.ones(2, 2, dtype=torch.float64)
m @ d  # raises dtype
torch.mv(m, d[0])  # raises dtype
torch.dot(m[0], d[0])  # raises dtype
(m.double() @ d).sum().backward()
