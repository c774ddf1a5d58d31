"""Each transform shows tensors as its own: what is outside has no gradient in it, whatever made it.

topic: func
features: func, grad, printing, grad_fn, closures
rule: torch.func.grad
source: probed on torch 2.13.0
"""

import torch

weight = torch.ones(3, requires_grad=True)

def told(x):
    outside = weight * 2.0
    print(outside, outside.requires_grad, outside.grad_fn, weight.requires_grad)
    y = x * weight
    print(y, y.requires_grad, y.grad_fn.next_functions)
    new = torch.zeros(2)
    print(new, new.requires_grad)
    return (y * y).sum()

gradient = torch.func.grad(told)(torch.tensor([1.0, 2.0, 3.0]))
gradient.sum().backward()
weight.grad

def outer(x):
    z = x * 1.0
    def inner(y):
        print(z, z.requires_grad, z.grad_fn, y, (z * y).requires_grad)
        return (z * y).sum()
    return torch.func.grad(inner)(x).sum()

torch.func.grad(outer)(torch.ones(2))
