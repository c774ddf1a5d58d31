"""A Function that wrote a view returns None: nothing at all arrives at what the base was before.

topic: functions
features: mark-dirty, view, none-gradient
rule: torch.autograd.function.FunctionCtx.mark_dirty
"""

import torch

class Drop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2.0)
    @staticmethod
    def backward(ctx, grad):
        return None

x = torch.ones(3, requires_grad=True)
base = x * 1.0
base.register_hook(lambda g: print("base", g))
Drop.apply(base[:2])
base.sum().backward()
