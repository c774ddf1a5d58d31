"""What NumPy raises inside a custom backward reaches the caller as it is.

topic: functions
features: numpy, ValueError, custom Function
rule: torch.autograd.Function
"""

import numpy as np
import torch


class Misfit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    def backward(ctx, grad):
        return torch.from_numpy(grad.numpy() + np.ones(5, np.float32))


x = torch.ones(3, requires_grad=True)
Misfit.apply(x).sum().backward()  # raises ValueError
