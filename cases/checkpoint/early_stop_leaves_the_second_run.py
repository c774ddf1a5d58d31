"""The second run ends as soon as the last tensor that backward needs was saved.

topic: checkpoint
features: checkpoint, early-stop
rule: torch.utils.checkpoint.set_checkpoint_early_stop
"""

import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

x = torch.tensor(1.0, requires_grad=True)


def f(t):
    a = t.sin()
    print("a")
    b = a.exp()
    print("b")
    return b + 1


y = checkpoint(f, x, use_reentrant=False)
y.backward()
with set_checkpoint_early_stop(False):
    z = checkpoint(f, x, use_reentrant=False)
z.backward()
