"""A Function that returns a view needs a jvp that returns a view of the tangent, or of the tangent's base.

topic: forward-mode
features: custom-function, views, error
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#forward-mode-ad
"""
import torch

forward_ad = torch.autograd.forward_ad

class Head(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, rule):
        ctx.rule = rule
        return x.narrow(0, 0, 2)

    @staticmethod
    def jvp(ctx, tangent, _):
        return ctx.rule(tangent)

with forward_ad.dual_level():
    dual = forward_ad.make_dual(torch.ones(3), torch.arange(3.0))
    view = dual.view(3)
    print(forward_ad.unpack_dual(Head.apply(dual, lambda t: t.narrow(0, 0, 2))).tangent)
    Head.apply(dual, lambda t: t[:2].clone())  # raises RuntimeError

with forward_ad.dual_level():
    dual = forward_ad.make_dual(torch.ones(3), torch.arange(3.0))
    Head.apply(dual, lambda t: t[:2].clone().view(2))  # raises RuntimeError

with forward_ad.dual_level():
    dual = forward_ad.make_dual(torch.ones(3), torch.arange(3.0))
    Head.apply(dual.view(3), lambda t: t[:2].clone().view(2))  # raises RuntimeError
