"""A Hessian is the Jacobian of a Jacobian, and its function must give a single element.

topic: functional
features: functional, hessian, not-scalar
rule: torch.autograd.functional.hessian
source: transforms D1
"""

import torch

x = torch.tensor([1.0, 2.0])
y = torch.tensor([3.0])
a = torch.autograd.functional.hessian(lambda v: (v**3).sum(), x)
b = torch.autograd.functional.hessian(lambda v, w: (v**2 * w).sum(), (x, y))
c = torch.autograd.functional.hessian(lambda v: v.sum(), x)
d = torch.autograd.functional.hessian(lambda v: v**2, x)  # raises RuntimeError
e = torch.autograd.functional.hessian(lambda v: (v.sum(), v.sum()), x)  # raises RuntimeError
