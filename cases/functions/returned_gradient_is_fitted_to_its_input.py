"""A returned gradient of a broadcastable larger shape is summed down and cast; a smaller or unrelated shape
is refused.

topic: functions
features: custom-function, broadcast, dtype, gradient-mismatch
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Give(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gradient):
        ctx.gradient = gradient
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return ctx.gradient, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
Give.apply(x, torch.ones(3, 2, dtype=torch.float64)).sum().backward()
Give.apply(x, torch.tensor([5, 6])).sum().backward()
Give.apply(x, torch.ones(3)).sum().backward()  # raises gradient-mismatch
Give.apply(x, torch.ones(1)).sum().backward()  # raises gradient-mismatch
