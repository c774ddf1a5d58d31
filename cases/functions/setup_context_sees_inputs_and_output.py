"""With setup_context the forward has no ctx; defaults and keywords are bound into the inputs it is given.

topic: functions
features: custom-function, setup-context
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#combined-or-separate-forward-and-setup-context
"""

import torch


class Power(torch.autograd.Function):
    @staticmethod
    def forward(x, n=2):
        return x**n

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, n = inputs
        print("inputs", inputs, "output", output)
        ctx.save_for_backward(x)
        ctx.n = n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


x = torch.tensor(2.0, requires_grad=True)
Power.apply(x, 3).backward()
square = Power.apply(x)
