"""The inner function of two nested checkpoints runs three times, the outer one twice.

topic: checkpoint
features: checkpoint, nested
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor(1.0, requires_grad=True)


def inner(t):
    print("inner")
    return t.sin().exp()


def outer(t):
    print("outer")
    return checkpoint(inner, t.sin(), use_reentrant=False).sin()


y = checkpoint(outer, x, use_reentrant=False)
y.backward()
