"""once_differentiable gives a first gradient without a graph, or one whose node raises when the incoming
gradient had one.

topic: functions
features: custom-function, once-differentiable, double-backward
rule: torch.autograd.function.once_differentiable
source: R082, pytorch/pytorch#81340
"""

import torch
from torch.autograd.function import once_differentiable


class Sin(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()


x = torch.tensor([0.0], requires_grad=True)
g = torch.autograd.grad(Sin.apply(x), x, create_graph=True)[0]
g.backward()  # raises no-grad
h = torch.autograd.grad(Sin.apply(x) * x, x, create_graph=True)[0]
h.backward()  # raises not-differentiable
