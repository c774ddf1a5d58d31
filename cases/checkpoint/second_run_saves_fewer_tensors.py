"""A second run that saves another number of tensors is refused.

topic: checkpoint
features: checkpoint, determinism, error
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor([1.0, 2.0], requires_grad=True)
runs = []


def f(t):
    runs.append(1)
    return t.sin().exp() if len(runs) == 1 else t * 1


y = checkpoint(f, x, use_reentrant=False)
y.sum().backward()  # raises CheckpointError
