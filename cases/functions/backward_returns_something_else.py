"""A backward must return tensors or None: a number or a list is refused, a missing backward too.

topic: functions
features: custom-function, gradient-mismatch, error
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


class NoBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()


x = torch.tensor([1.0], requires_grad=True)
Give.apply(x, 3).backward()  # raises gradient-mismatch
Give.apply(x, [torch.ones(1)]).backward()  # raises gradient-mismatch
Give.apply(x, None).backward()
NoBackward.apply(x).backward()  # raises NotImplementedError
