"""Functions that return nothing, inputs of integers, tangents that do not fit, and random numbers.

topic: func
features: func, vjp, jvp, linearize, error
rule: torch.func.vjp
source: torch/_functorch/eager_transforms.py
"""

import torch
from torch.func import hessian, jacfwd, jacrev, jvp, vjp, vmap

x = torch.tensor([1.0, 2.0])
vjp(lambda v: None, x)  # raises RuntimeError
jvp(lambda v: None, (x,), (x,))  # raises RuntimeError
jacrev(lambda v: None)(x)  # raises RuntimeError
jacfwd(lambda v: None)(x)  # raises RuntimeError
jacfwd(torch.sum)(torch.ones(2).int())  # raises ValueError
hessian(torch.sum)(torch.ones(2).int())  # raises ValueError
jacfwd(lambda v: v * torch.rand(2))(x)  # raises RuntimeError
hessian(lambda v: (v * torch.rand(2)).sum())(x)  # raises RuntimeError
a = vmap(lambda v: v, out_dims=(1,))(torch.ones(2, 3))
vmap(lambda v: v, out_dims=[1])(torch.ones(2, 3))  # raises ValueError
