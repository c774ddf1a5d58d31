"""A backward that returns None still lets the nodes below it run, with undefined gradients; the leaf's grad
stays None.

topic: engine
features: engine, custom-function, grad-none, hooks
rule: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""

import torch


class Stop(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return None


a = torch.tensor([1.0], requires_grad=True)
b = a.exp()
h = b.grad_fn.register_hook(lambda grads, outputs: print("exp", grads, outputs))
k = a.register_hook(lambda g: print("leaf", g))
Stop.apply(b).backward()
(Stop.apply(a) + a * 2.0).backward()
