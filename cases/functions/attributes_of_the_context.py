"""The ctx of forward, the ctx of backward and the result's grad_fn are one object.

topic: functions
features: custom-function, grad-fn, identity
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""

import torch


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.note = "kept"
        contexts.append(ctx)
        return x * 7.0

    @staticmethod
    def backward(ctx, g):
        contexts.append(ctx)
        return g * 7.0


contexts = []
x = torch.tensor([1.0], requires_grad=True)
y = Keep.apply(x)
y.backward()
one = contexts[0] is contexts[1] is y.grad_fn
note = y.grad_fn.note
name = y.grad_fn.name()
