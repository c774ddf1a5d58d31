"""A hook that the function puts on its argument sees and changes the transform's own gradient, and no other.

topic: func
features: func, grad, hooks, nested
rule: torch.func.grad, torch.Tensor.register_hook
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)


def cube(t):
    t.register_hook(lambda g: print("inner") or g * 10)
    return (t * t * t).sum()


def slope(t):
    t.register_hook(lambda g: print("outer") or g * 2)
    return torch.func.grad(cube)(t).sum()


first = torch.func.grad(cube)(x)
first.sum().backward()
second = torch.func.grad(slope)(x.detach())
