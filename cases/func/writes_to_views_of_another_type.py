"""Inside a transform a write to a strided view of a view of another type reaches its own elements.

topic: func
features: func, grad, vmap, views, view_as_real, in-place
rule: torch.func.grad
source: probed on torch 2.13.0
"""

import torch

def wrote(x):
    pairs = torch.view_as_real(torch.complex(x, x * 3.0) * 1)
    row = pairs[1]
    row.mul_(2.0)
    first = pairs[0]
    first.add_(1.0)
    return (pairs * pairs).sum()

x = torch.tensor([1.0, 2.0, 3.0])
torch.func.grad(wrote)(x)
torch.vmap(torch.func.grad(wrote))(torch.stack([x, x + 1.0]))
torch.func.grad(lambda x: torch.func.grad(wrote)(x).sum())(x)
torch.func.jacrev(lambda x: torch.view_as_real(torch.complex(x, x) * 1)[0].mul_(3.0))(x)
leaf = x.clone().requires_grad_()
torch.autograd.grad(wrote(leaf), leaf)
