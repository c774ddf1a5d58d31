"""Losses check their targets: class range, dtype, batch size, and the range of probabilities.

topic: errors
features: nll-loss, cross-entropy, bce, mse, error
rule: torch.nn.functional.cross_entropy
"""

import torch
import torch.nn.functional as F

logits = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
F.cross_entropy(logits, torch.tensor([3]))  # raises index
F.cross_entropy(logits, torch.tensor([0, 1]))  # raises ValueError
F.nll_loss(logits, torch.tensor([0.5]))  # raises RuntimeError
F.binary_cross_entropy(logits, torch.zeros(1, 3))  # raises RuntimeError
F.binary_cross_entropy_with_logits(logits, torch.zeros(3))  # raises ValueError
F.cross_entropy(logits, torch.tensor([2])).backward()
