"""A tensor given to save_for_backward is watched like any saved tensor; one kept as an attribute is not.

topic: functions
features: custom-function, save-for-backward, version-counter
rule: torch.autograd.function.FunctionCtx.save_for_backward
"""

import torch


class Watched(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, watched):
        if watched:
            ctx.save_for_backward(w)
        ctx.w = w
        ctx.watched = watched
        return x * w

    @staticmethod
    def backward(ctx, g):
        w = ctx.saved_tensors[0] if ctx.watched else ctx.w
        return g * w, None, None


x = torch.tensor([1.0], requires_grad=True)
w = torch.tensor([3.0])
watched = Watched.apply(x, w, True)
careless = Watched.apply(x, w, False)
w.add_(10.0)
watched.backward()  # raises version-mismatch
careless.backward()
