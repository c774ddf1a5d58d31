"""The gradient of a squared norm at zero is zero, its Hessian not a number: the norm has no slope there.

topic: functional
features: functional, hessian, nan
rule: torch.autograd.functional.hessian, torch.linalg.norm
source: R140
"""

import torch

x = torch.zeros(2, requires_grad=True)
g = torch.autograd.grad(torch.linalg.norm(x) ** 2, x)[0]
h = torch.autograd.functional.hessian(lambda v: torch.linalg.norm(v) ** 2, torch.zeros(2))
s = torch.autograd.functional.hessian(lambda v: (v**2).sum(), torch.zeros(2))
