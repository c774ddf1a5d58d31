"""The reentrant form cannot be used with autograd.grad or inputs=.

topic: checkpoint
features: checkpoint, reentrant, error
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor(1.0, requires_grad=True)
y = checkpoint(torch.sin, x, use_reentrant=True)
torch.autograd.grad(y, x)  # raises RuntimeError
z = checkpoint(torch.sin, x, use_reentrant=False)
g = torch.autograd.grad(z, x)
