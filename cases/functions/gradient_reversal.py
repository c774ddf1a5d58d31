"""A layer that is the identity forward and turns the gradient round on the way back.

topic: functions
features: custom-function, view-as, neg
rule: Extending torch.autograd
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
