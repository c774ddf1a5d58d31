"""gradcheck tries undefined gradients too: a backward without materialized zeros must take None.

topic: functional
features: gradcheck, undefined-gradient, custom-function
rule: torch.autograd.gradcheck.gradcheck
source: transforms E2
"""

import torch

x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)


class Picky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.set_materialize_grads(False)
        return t * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


a = torch.autograd.gradcheck(Picky.apply, x)  # raises argument
b = torch.autograd.gradcheck(Picky.apply, x, check_undefined_grad=False)
