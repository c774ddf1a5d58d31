"""A forward may return None; a backward may return surplus trailing Nones, but a surplus gradient or one too
few is refused.

topic: functions
features: custom-function, gradient-count, error
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
source: R084, JonathonLuiten/instant-nerf-pytorch#2
"""

import torch


class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return None


class Extra(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b

    @staticmethod
    def backward(ctx, g):
        return g, g, None, None if ctx.needs_input_grad[1] else g


class Few(Extra):
    @staticmethod
    def backward(ctx, g):
        return g


x = torch.tensor([1.0], requires_grad=True)
nothing = Nothing.apply(x)
Extra.apply(x, x).backward()
Extra.apply(x, torch.tensor([2.0])).backward()  # raises gradient-mismatch
Few.apply(x, x).backward()  # raises gradient-mismatch
