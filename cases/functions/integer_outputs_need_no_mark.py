"""Integer and boolean outputs of a Function never require grad, marked or not.

topic: functions
features: custom-function, several-outputs, dtype
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Parts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0, x.long(), x > 1.0

    @staticmethod
    def backward(ctx, *grads):
        print(grads)
        return grads[0] * 2.0


x = torch.tensor([1.0, 2.5], requires_grad=True)
value, whole, large = Parts.apply(x)
value.sum().backward()
