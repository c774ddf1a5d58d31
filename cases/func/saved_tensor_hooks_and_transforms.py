"""`grad`, `vjp`, `jacrev` and `hessian` refuse hooks on saved tensors, around them and inside; `jvp` and `jacfwd` do not.

topic: func
features: torch.func, saved_tensors_hooks, checkpoint, errors
rule: torch.func.grad, torch.autograd.graph.saved_tensors_hooks
"""

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

x = torch.tensor([1.0, 2.0])


def hooked():
    return saved_tensors_hooks(lambda t: print("pack"), lambda t: t)


def inside(t):
    with hooked():
        return (t * t).sum()


with hooked():
    print(torch.func.jacfwd(lambda t: t * t)(x))
    print(torch.vmap(lambda t: t * t)(x))
with hooked():  # raises RuntimeError
    torch.func.grad(lambda t: (t * t).sum())(x)
with hooked():  # raises RuntimeError
    torch.func.vjp(lambda t: t * t, x)
with hooked():  # raises RuntimeError
    torch.func.hessian(lambda t: (t * t).sum())(x)
torch.func.grad(inside)(x)  # raises RuntimeError
torch.func.jacrev(inside)(x)  # raises RuntimeError
torch.func.jvp(inside, (x,), (x,))
torch.func.grad(lambda t: checkpoint(torch.sin, t, use_reentrant=False).sum())(x)  # raises RuntimeError
y = (x.requires_grad_() * 2).sum()
y.backward()
