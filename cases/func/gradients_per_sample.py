"""A grad within a vmap follows samples; what runs, and what the graph outside shows, are ops of the whole batch.

topic: func
features: func, vmap, grad, strides, create_graph
rule: torch.func.vmap
source: documentation of torch.func.vmap, per-sample gradients
"""

import torch
from torch.func import grad, jacrev, vmap

xs = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
ones = vmap(grad(lambda x: x.sum()))(xs)
turned = vmap(grad(lambda x: x.roll(1).sum()))(xs)
largest = vmap(grad(lambda x: x.max()))(xs)
lengths = vmap(grad(lambda x: x.norm()))(xs)
second = vmap(grad(lambda x: grad(lambda t: (t**3).sum())(x).sum()))(xs)
bends = vmap(grad(lambda x: grad(lambda t: (t.exp() * t.tanh()).sum())(x).sum()))(xs)
rows = vmap(jacrev(lambda x: x * x))(xs)

w = torch.tensor([[0.5, 0.0], [1.0, 2.0], [0.25, 1.0]], requires_grad=True)
of_each = vmap(grad(lambda w, x: (x @ w).pow(2).sum()), in_dims=(None, 0))(w, xs)
of_each.sum().backward()

ys = xs.clone().requires_grad_()
through = vmap(grad(lambda y: (y.exp() * y[0]).sum()))(ys)
(again,) = torch.autograd.grad(through.sum(), ys)
