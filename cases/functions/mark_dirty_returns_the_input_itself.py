"""An input changed in place and marked dirty comes back as the same object with the Function's node.

topic: functions
features: custom-function, mark-dirty, version-counter
rule: torch.autograd.function.FunctionCtx.mark_dirty
"""

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.mark_dirty(x)
        ctx.k = k
        return x.mul_(k)

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


leaf = torch.tensor([1.0, 2.0], requires_grad=True)
x = leaf + 0.0
y = Scale.apply(x, 5.0)
same = y is x
version = x._version
y.sum().backward()
