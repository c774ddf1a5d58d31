"""A Function that returns its input as it is gives a new view of it, and writing to that view is refused.

topic: functions
features: custom-function, view, view-inplace
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
source: R083, ccarliu/m3ae#15
"""

import torch


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2.0


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 1.0
out = Same.apply(y)
is_same = out is y
out.add_(1.0)  # raises view-inplace
out.sum().backward()
