"""needs_input_grad has one flag per argument; a backward may return None where nothing is wanted.

topic: functions
features: custom-function, needs-input-grad
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

import torch


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, scale):
        print("forward", ctx.needs_input_grad)
        ctx.save_for_backward(a, b)
        ctx.scale = scale
        return a * b * scale

    @staticmethod
    def backward(ctx, g):
        print("backward", ctx.needs_input_grad)
        a, b = ctx.saved_tensors
        of_a = g * b * ctx.scale if ctx.needs_input_grad[0] else None
        of_b = g * a * ctx.scale if ctx.needs_input_grad[1] else None
        return of_a, of_b, None


x = torch.tensor([2.0], requires_grad=True)
k = torch.tensor([3.0])
Product.apply(x, k, 10.0).backward()
Product.apply(k, x, 1.0).backward()
Product.apply(k, k, 1.0)
