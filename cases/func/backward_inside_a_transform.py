"""backward and requires_grad_ are refused inside a transform.

topic: func
features: func, error
rule: https://docs.pytorch.org/docs/stable/func.ux_limitations.html
"""

import torch

x = torch.tensor(2.0)


def f(t):
    (t**2).backward()
    return t


torch.func.grad(f)(x)  # raises RuntimeError
torch.func.grad(lambda t: t.requires_grad_() * 2)(x)  # raises RuntimeError
torch.func.grad(lambda t: t.mul_(2))(x)  # raises leaf-inplace
