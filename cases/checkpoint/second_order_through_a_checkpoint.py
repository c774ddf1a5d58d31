"""The form that is not reentrant can be differentiated twice.

topic: checkpoint
features: checkpoint, create-graph
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor(1.0, requires_grad=True)
y = checkpoint(lambda t: t.sin(), x, use_reentrant=False)
(g,) = torch.autograd.grad(y, x, create_graph=True)
(h,) = torch.autograd.grad(g, x)
