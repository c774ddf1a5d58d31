"""A custom Function gets a subclass's tensor as it is, saves it so, and gets plain gradients; its result is
what the ops in it gave.

topic: functions
features: subclass, torch-function, save_for_backward
rule: torch.autograd.Function
"""

import torch


class Named(torch.Tensor):
    pass


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward", type(x).__name__)
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        print("backward", type(grad).__name__, type(x).__name__)
        return 2 * x * grad


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


leaf = torch.Tensor._make_subclass(Named, torch.tensor([1.0, 3.0]), True)
y = Square.apply(leaf)
print(type(y).__name__, y.grad_fn.name())
z = Same.apply(leaf)
print(type(z).__name__, z.grad_fn.name())
(y + z).sum().backward()
print(type(leaf.grad).__name__)
