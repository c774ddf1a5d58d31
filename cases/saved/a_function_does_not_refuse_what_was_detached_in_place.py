"""A tensor that a custom Function saved is detached in place: unlike an op, the Function gets it all the same.

topic: saved
features: detach-in-place, custom-function
rule: torch.autograd.function.FunctionCtx.save_for_backward
"""

import torch

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        print(x.requires_grad, x.grad_fn)
        return grad * x * 2.0

x = torch.tensor([3.0, 0.0], requires_grad=True)
y = x * 2.0
z = Square.apply(y)
y.detach_()
z.sum().backward()
