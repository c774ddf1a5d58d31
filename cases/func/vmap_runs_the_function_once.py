"""The function runs once, for all samples; writes into what is the same for all are refused.

topic: func
features: func, vmap, inplace, error
rule: torch.vmap
"""

import torch

x = torch.arange(6.0).reshape(2, 3)
c = torch.zeros(3)


def f(a):
    print("run", a.shape)
    b = a.clone()
    b[0] = 9.0
    return b


y = torch.vmap(f)(x)
torch.vmap(lambda a: c.copy_(a))(x)  # raises RuntimeError
torch.vmap(lambda a: c.add_(a))(x)  # raises shape
torch.vmap(lambda a: a + torch.rand(3))(x)  # raises RuntimeError
