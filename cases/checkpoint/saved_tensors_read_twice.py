"""A custom Function inside a checkpoint may read its saved tensors once.

topic: checkpoint
features: checkpoint, custom-function, error
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint



class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        ctx.saved_tensors
        ctx.saved_tensors
        return grad * 2


x = torch.tensor(1.0, requires_grad=True)
y = checkpoint(lambda t: Twice.apply(t.sin()), x, use_reentrant=False)
y.backward()  # raises CheckpointError
