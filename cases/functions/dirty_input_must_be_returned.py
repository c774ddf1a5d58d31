"""An input marked dirty and not returned is refused.

topic: functions
features: custom-function, mark-dirty, function-result
rule: torch.autograd.function.FunctionCtx.mark_dirty
"""

import torch


class Forgetful(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.add_(1.0)
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        return g


leaf = torch.tensor([1.0], requires_grad=True)
x = leaf * 1.0
y = Forgetful.apply(x)  # raises function-result
