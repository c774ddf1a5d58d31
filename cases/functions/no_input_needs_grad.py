"""Without an input that requires grad no node is made, even when the forward uses a closed-over leaf.

topic: functions
features: custom-function, requires-grad
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

import torch


class Close(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * w

    @staticmethod
    def backward(ctx, g):
        return g


w = torch.tensor([5.0], requires_grad=True)
x = torch.tensor([1.0])
y = Close.apply(x)
z = Close.apply(x.requires_grad_())
z.backward()
