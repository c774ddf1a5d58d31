"""Each form of the matrix product has its own text for shapes that do not fit.

topic: errors
features: shape, matmul, mm, error
rule: torch.matmul
"""

import torch

m = torch.ones(2, 3, requires_grad=True)
v = torch.ones(2)
m @ m  # raises shape
m @ v  # raises shape
v @ torch.ones(3)  # raises shape
torch.mm(m, v)  # raises RuntimeError
torch.bmm(m, m)  # raises shape
m @ torch.tensor(2.0)  # raises shape
(m @ torch.ones(3)).sum().backward()
