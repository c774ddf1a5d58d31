"""Within a grad within a vmap a tensor shows the graph of its sample: views, writes and hooks work there.

topic: func
features: func, vmap, grad, views, in-place, hooks
rule: torch.func.vmap
source: probed on torch 2.13.0
"""

import torch
from torch.func import grad, vmap

def told(x):
    y = x * 2.0
    print(x.requires_grad, x.is_leaf, y.requires_grad, y.is_leaf, y.shape, y.grad_fn.name())
    row = y[1:]
    print(row._is_view(), row._base is y, row.grad_fn.name())
    row.mul_(3.0)
    print(y.grad_fn.name(), row.grad_fn.name())
    y.register_hook(lambda g: print("hook", g.shape) or g * 10.0)
    kept = torch.zeros(3)
    print(kept.requires_grad, y.detach().requires_grad)
    return (y * kept.add(1.0)).sum()

xs = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
found = vmap(grad(told))(xs)

def refused(x):
    x.mul_(2.0)
    return x.sum()

try:
    vmap(grad(refused))(xs)
except RuntimeError as error:
    print(error)

def shared(w, x):
    print(w.requires_grad, w.shape, (w * 2.0).grad_fn.name())
    return (w * x).sum() + (w * w).sum()

both = vmap(grad(shared, argnums=(0, 1)), in_dims=(None, 0))(torch.tensor([1.0, 2.0, 3.0]), xs)
