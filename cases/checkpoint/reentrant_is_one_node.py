"""The reentrant form is one node; its first run records nothing, its second runs on a detached leaf.

topic: checkpoint
features: checkpoint, reentrant
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor(1.0, requires_grad=True)


def f(t):
    print("run", torch.is_grad_enabled(), t is x, t.is_leaf)
    return t.sin() * 2


y = checkpoint(f, x, use_reentrant=True)
y.backward()
