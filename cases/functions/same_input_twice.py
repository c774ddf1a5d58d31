"""A leaf passed twice has two edges to one accumulator, and both gradients are summed.

topic: functions
features: custom-function, accumulate, next-functions
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Weighted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return 2.0 * a + 3.0 * b

    @staticmethod
    def backward(ctx, g):
        return 2.0 * g, 3.0 * g


x = torch.tensor([1.0], requires_grad=True)
y = Weighted.apply(x, x)
edges = y.grad_fn.next_functions
one_node = edges[0][0] is edges[1][0]
y.backward()
