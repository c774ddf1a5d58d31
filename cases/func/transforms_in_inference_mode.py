"""Inference mode outside of a transform does not reach in, and what was made in it can be captured.

topic: func
features: func, grad, jvp, inference-mode
rule: torch.func.grad
source: aten/src/ATen/functorch/DynamicLayer.cpp
"""

import torch
from torch.func import grad, jacfwd, jacrev, jvp, vmap

x = torch.tensor([1.0, 2.0])
with torch.inference_mode():
    made = torch.tensor([3.0, 4.0])
    a = grad(lambda v: v.sum())(x) * 1
    b = grad(lambda v: (v * v).sum())(x) * 1
    c, d = jvp(lambda v: v * v, (x,), (x,))
    e = jacrev(lambda v: v * v)(x) * 1
    f = jacfwd(lambda v: v * v)(x) * 1
    g = vmap(grad(lambda v: v * v))(x) * 1
h = grad(lambda v: (v * made).sum())(x)
i, j = jvp(lambda v: v * made, (x,), (x,))
