"""Weighted counts are recorded although nothing can be derived: backward says so.

topic: errors
features: bincount, not-implemented, error
rule: torch.bincount
"""

import torch

weights = torch.tensor([0.5, 1.5, 2.0], requires_grad=True)
counts = torch.bincount(torch.tensor([1, 0, 1]), weights)
counts.sum().backward()  # raises RuntimeError
plain = torch.bincount(torch.tensor([1, 0, 1]))
