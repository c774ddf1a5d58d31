"""A leaf that requires grad cannot be marked dirty, though its value is changed by the time of the error; a
plain tensor can.

topic: functions
features: custom-function, mark-dirty, leaf-inplace
rule: torch.autograd.function.FunctionCtx.mark_dirty
"""

import torch


class Zero(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.zero_()

    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g)


leaf = torch.tensor([1.0, 2.0], requires_grad=True)
Zero.apply(leaf)  # raises leaf-inplace
plain = torch.tensor([1.0, 2.0])
y = Zero.apply(plain)
