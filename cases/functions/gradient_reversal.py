"""A custom backward need not be that of its forward: a layer may be the identity and turn the gradient round
on the way back.

topic: functions
features: custom-function, view-as, neg
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.strength, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
feature = x * 3.0
domain = Reverse.apply(feature, 0.5)
(feature.sum() + domain.sum()).backward()
