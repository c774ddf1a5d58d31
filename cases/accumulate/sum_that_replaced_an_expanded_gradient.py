"""A gradient that was summed to the input's shape leaves the memory it came from to be added to in place.

topic: accumulate
features: custom Function, expand, in-place accumulation, version
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

import torch


class Wide(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad.expand(2, *grad.shape)


a = torch.tensor([[1.0, 2.0], [5.0, 6.0]], requires_grad=True)
b = Wide.apply(a) + a
c, d = b.split([1, 1], 1)
torch.autograd.backward([d], [torch.ones(2, 1)])
print(a.grad, a.grad._version)
