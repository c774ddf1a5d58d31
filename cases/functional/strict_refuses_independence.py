"""What does not depend on the input is zero, and an error in strict mode.

topic: functional
features: functional, strict
rule: torch.autograd.functional.jacobian
source: R186, transforms D4
"""

import torch

x = torch.tensor([1.0, 2.0])
c = torch.tensor([5.0, 6.0])
a = torch.autograd.functional.jacobian(lambda v: c, x)
b = torch.autograd.functional.jacobian(lambda v: c, x, strict=True)  # raises no-grad
b = torch.autograd.functional.jacobian(lambda v, w: v, (x, x), strict=True)  # raises RuntimeError
b = torch.autograd.functional.jacobian(
    lambda v: 2 * v, x, strict=True, create_graph=True
)  # raises RuntimeError
b = torch.autograd.functional.hessian(lambda v: v.sum(), x, strict=True)  # raises RuntimeError
b = torch.autograd.functional.vjp(lambda v, w: v, (x, x), x, strict=True)  # raises RuntimeError
b = torch.autograd.functional.jvp(lambda v: c, x, x, strict=True)  # raises no-grad
b = torch.autograd.functional.hvp(lambda v: v.sum(), x, x, strict=True)  # raises RuntimeError
