"""A custom Function returned a view of something made inside, changed under no_grad: the next use raises,
even reading grad_fn.

topic: views
features: custom-function, view, no-grad, view-inplace
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
source: R035, pytorch/pytorch#14707
"""

import torch


class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x.detach() * 3.0).view(-1)

    @staticmethod
    def backward(ctx, g):
        return g.view(2, 2) * 3.0


x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
out = Triple.apply(x)
with torch.no_grad():
    out.fill_(1.0)
out.sum().backward()  # raises view-inplace
node = out.grad_fn  # raises view-inplace
