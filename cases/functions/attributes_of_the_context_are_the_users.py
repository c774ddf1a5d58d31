"""What forward keeps on ctx under names such as shape, dtype or hooks is there unchanged in backward.

topic: functions
features: custom-function, context
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        ctx.dtype = x.dtype
        ctx.edges, ctx.hooks, ctx.outputs, ctx.release = 1, 2, 3, 4
        return x.sum().double()

    @staticmethod
    def backward(ctx, g):
        print(ctx.shape, ctx.dtype, ctx.edges, ctx.hooks, ctx.outputs, ctx.release)
        return g.to(ctx.dtype).expand(ctx.shape)


x = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
y = Total.apply(x)
print(y.grad_fn.shape)
y.backward()
