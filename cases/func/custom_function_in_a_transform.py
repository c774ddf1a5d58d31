"""A custom Function needs setup_context inside a transform, and a rule for vmap.

topic: func
features: func, vmap, custom-function, error
rule: https://docs.pytorch.org/docs/stable/notes/extending.func.html
"""

import torch


class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class New(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Generated(New):
    generate_vmap_rule = True


x = torch.ones(2)
torch.func.grad(lambda t: Old.apply(t).sum())(x)  # raises function-result
g = torch.func.grad(lambda t: New.apply(t).sum())(x)
torch.vmap(New.apply)(x)  # raises RuntimeError
y = torch.vmap(Generated.apply)(x)
