"""Grad mode is off in forward, and in backward it is on exactly with create_graph=True.

topic: functions
features: custom-function, grad-mode, create-graph
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Look(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward", torch.is_grad_enabled(), x.requires_grad, (x * 2.0).requires_grad)
        return x * 2.0

    @staticmethod
    def backward(ctx, g):
        print("backward", torch.is_grad_enabled())
        return g * 2.0


x = torch.tensor([1.0], requires_grad=True)
Look.apply(x).backward()
g = torch.autograd.grad(Look.apply(x), x, create_graph=True)
with torch.no_grad():
    y = Look.apply(x)
