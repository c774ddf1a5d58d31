"""The forward strategy of a Jacobian runs the function once, with a batch of tangents.

topic: functional
features: functional, jacobian, hessian, forward-mode
rule: torch.autograd.functional.jacobian
source: torch/autograd/functional.py, _jacfwd
"""

import torch
from torch.autograd.functional import hessian, jacobian

x = torch.tensor([1.0, 2.0, 3.0])
seen = []


def logarithms(v):
    seen.append(torch.autograd.forward_ad.unpack_dual(v).tangent is not None)
    return v.logcumsumexp(0)


a = jacobian(logarithms, x, vectorize=True, strategy="forward-mode") * 1
print(seen)
b = jacobian(lambda v, w: (v * w, v.sum()), (x, x), vectorize=True, strategy="forward-mode")
c = jacobian(lambda v: torch.ones(2), x, vectorize=True, strategy="forward-mode")
d = hessian(lambda v: (v**3).sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode").detach()
e = jacobian(lambda v: v.sin() * v, torch.ones(0), vectorize=True, strategy="forward-mode")
