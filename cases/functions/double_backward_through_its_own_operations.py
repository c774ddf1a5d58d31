"""The second derivative goes through the operations of the backward; a detached value kept on ctx cuts it.

topic: functions
features: custom-function, double-backward, save-for-backward
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
"""

import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, cut):
        ctx.save_for_backward(x)
        ctx.cut = cut
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        if ctx.cut:
            x = x.detach()
        return g * 3.0 * x**2, None


x = torch.tensor(2.0, requires_grad=True)
g = torch.autograd.grad(Cube.apply(x, False), x, create_graph=True)[0]
second = torch.autograd.grad(g, x)[0]
g = torch.autograd.grad(Cube.apply(x, True), x, create_graph=True)[0]
torch.autograd.grad(g, x)  # raises no-grad
