"""apply puts keywords at the positions of their names; keyword-only ones are unknown, defaults fill no gap.

topic: functions
features: custom-function, arguments, error
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor=2, offset=None, *, power=1):
        return x * factor**power

    @staticmethod
    def backward(ctx, g):
        print(ctx.needs_input_grad)
        return g, None


x = torch.tensor([1.0], requires_grad=True)
Scale.apply(factor=3, x=x).backward()
Scale.apply(x, power=2)  # raises argument
Scale.apply(x, x=x)  # raises argument
Scale.apply(x, offset=1)  # raises argument
