"""A backward must return None for an argument that is no tensor.

topic: functions
features: custom-function, gradient-count, gradient-mismatch
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g, g


x = torch.tensor([1.0], requires_grad=True)
Scale.apply(x, 3.0).backward()  # raises gradient-mismatch
Scale.apply(x, torch.tensor(3.0)).backward()
