"""A Function that writes to a view and marks it dirty becomes part of the base's history.

topic: functions
features: custom-function, mark-dirty, view, copy-slices
rule: torch.autograd.function.FunctionCtx.mark_dirty
"""

import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2.0)

    @staticmethod
    def backward(ctx, g):
        return g * 2.0


leaf = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = leaf * 1.0
view = base[:2]
out = Double.apply(view)
names = [type(base.grad_fn).__name__, type(view.grad_fn).__name__]
base.sum().backward()
