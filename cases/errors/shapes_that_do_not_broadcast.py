"""Operands that do not broadcast are refused with sizes and dimension; no node is made.

topic: errors
features: shape, error, broadcast
rule: https://docs.pytorch.org/docs/stable/notes/broadcasting.html
"""

import torch

a = torch.ones(2, 3, requires_grad=True)
b = torch.ones(4)
a + b  # raises shape
a * torch.ones(3, 1)  # raises shape
torch.maximum(a, b)  # raises shape
torch.where(a > 0, a, b)  # raises shape
(a + torch.ones(3)).sum().backward()
