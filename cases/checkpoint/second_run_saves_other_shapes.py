"""A second run that saves a tensor of another shape is refused, unless the check is off.

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
    return (t if len(runs) % 2 else torch.cat([t, t])).sin()


y = checkpoint(f, x, use_reentrant=False)
y.sum().backward()  # raises CheckpointError
z = checkpoint(f, x, use_reentrant=False, determinism_check="none")
z.sum().backward()  # raises shape
