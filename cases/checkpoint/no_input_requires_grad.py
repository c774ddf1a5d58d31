"""The reentrant form warns when no input requires grad, although a captured tensor does.

topic: checkpoint
features: checkpoint, reentrant, warning
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor(2.0)
w = torch.tensor(3.0, requires_grad=True)
y = checkpoint(lambda t: t * w, x, use_reentrant=True)
z = checkpoint(lambda t: t * w, x, use_reentrant=False)
z.backward()
