"""A backward that works with detached values has the right gradient and the wrong second one.

topic: functional
features: gradgradcheck, custom-function, double-backward
rule: torch.autograd.gradcheck.gradgradcheck
source: transforms E3
"""

import torch

x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
g = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)


class Constant(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.t = t.detach()
        return t**2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.t


a = torch.autograd.gradcheck(Constant.apply, x)
b = torch.autograd.gradgradcheck(lambda t: t**2, x, g)
c = torch.autograd.gradgradcheck(Constant.apply, x, g, raise_exception=False)
d = torch.autograd.gradgradcheck(Constant.apply, x, g)  # raises GradcheckError
