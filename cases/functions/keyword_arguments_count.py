"""A keyword argument given to apply counts as one more argument, for needs_input_grad and for the gradients.

topic: functions
features: custom-function, keyword, needs-input-grad
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k=3.0):
        print(ctx.needs_input_grad)
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k


x = torch.tensor([1.0], requires_grad=True)
Scale.apply(x).backward()
y = Scale.apply(x, k=4.0)
y.backward()  # raises gradient-mismatch
Scale.apply(x, j=4.0)  # raises argument
