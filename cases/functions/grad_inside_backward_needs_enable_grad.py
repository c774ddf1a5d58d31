"""Grad mode is off inside a custom backward, so a graph for autograd.grad is built there only under
enable_grad.

topic: functions
features: custom-function, enable-grad, grad, no-grad
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
source: R079, pytorch/pytorch#45405
"""

import torch


class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, switch_on):
        ctx.save_for_backward(x, w)
        ctx.switch_on = switch_on
        return (x * w).sum()

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        with torch.set_grad_enabled(ctx.switch_on):
            y = (x * w).sum()
        return *torch.autograd.grad(y, (x, w), g), None


x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
Inner.apply(x, w, False).backward()  # raises no-grad
Inner.apply(x, w, True).backward()
