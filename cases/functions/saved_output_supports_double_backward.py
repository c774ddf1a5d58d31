"""A Function that saves its own output can be differentiated twice, and again after that.

topic: functions
features: custom-function, save-for-backward, double-backward
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
source: R075, pytorch/pytorch#18619
"""

import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x**2
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * 2.0 * y / x


x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
y = Square.apply(x)
first = torch.autograd.grad(y, x, create_graph=True)[0]
second = torch.autograd.grad(first, x, retain_graph=True)[0]
again = torch.autograd.grad(y, x)[0]
