"""The inputs are saved with their versions: writing one in between is refused.

topic: checkpoint
features: checkpoint, version-counter, error
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor(1.0, requires_grad=True)
a = x * 1
y = checkpoint(torch.sin, a, use_reentrant=False)
a.add_(1)
y.backward()  # raises version-mismatch
