"""A number is an integer of at most 64 bits, with sign or without; an assigned one has a sign.

topic: numerics
features: number, overflow, error
rule: torch.Tensor.add
"""

import torch

x = torch.tensor([1.0, 2.0])
large = x + (2**64 - 1)
x + 2**64  # raises OverflowError
2**64 - x  # raises OverflowError
x.mul(-(2**63) - 1)  # raises OverflowError
x.add_(2**64)  # raises OverflowError
x.fill_(2**64)  # raises OverflowError
torch.full((2,), 2**64)  # raises OverflowError
torch.clamp(x, 2**64)  # raises OverflowError
torch.add(x, x, alpha=2**64)  # raises OverflowError
x[0] = 2**63 - 1
x[0] = 2**63  # raises ValueError
