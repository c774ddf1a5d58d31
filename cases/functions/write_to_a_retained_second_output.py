"""The second output of a custom Function retains its gradient and is then written in place; PyTorch fails an internal
assertion there.

topic: functions
features: custom-function, retain-grad, inplace, torch-bug
rule: torch.Tensor.retain_grad
"""

import torch


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0, x * 3.0

    @staticmethod
    def backward(ctx, g, h):
        return g * 2.0 + h * 3.0


a = torch.tensor([1.0, 2.0], requires_grad=True)
first, second = Both.apply(a)
second.retain_grad()
second.mul_(2.0)  # raises RuntimeError
