"""A norm along dimensions of size one takes no power and no root: tiny and huge elements survive it.

topic: numerics
features: norm, underflow, overflow
rule: torch.linalg.vector_norm
"""

import torch

x = torch.tensor([[1e-30], [-1e30]], requires_grad=True)
rows = torch.linalg.vector_norm(x, dim=1)
of_rows = torch.autograd.grad(rows.sum(), x)[0]
fourth = torch.linalg.vector_norm(x, 4.0, dim=1)
whole = torch.linalg.vector_norm(x)
count = torch.linalg.vector_norm(x * 0.0, 0.0, dim=1)
