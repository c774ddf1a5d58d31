"""The second run of a checkpointed function has the autocast of the first, not that of the backward.

topic: checkpoint
features: autocast, recompute
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

w = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)


def block(x):
    print("run", torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
    return (x @ w).sin()


for reentrant in (False, True):
    x = torch.tensor([[1.0, 0.3], [0.7, -1.0]], requires_grad=True)
    with torch.autocast("cpu"):
        lower = checkpoint(block, x, use_reentrant=reentrant)
    lower.float().sum().backward()
    single = checkpoint(block, x, use_reentrant=reentrant)
    with torch.autocast("cpu", dtype=torch.float16):
        single.sum().backward()
    print(lower.dtype, single.dtype, x.grad, w.grad)
