"""A backward that raises leaves its node unfreed, so the next call can succeed, and frees it.

topic: functions
features: custom-function, error, freed-graph
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Moody(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.calls = 0
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        ctx.calls += 1
        if ctx.calls == 1:
            raise ValueError("not now")
        return g * 2.0 * x


x = torch.tensor([3.0], requires_grad=True)
y = Moody.apply(x)
y.backward()  # raises ValueError
y.backward()
y.backward()  # raises freed-graph
