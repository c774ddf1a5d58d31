"""A complex result has no gradient without a cotangent, in a transform either, unless it is a constant.

topic: func
features: func, grad, complex, error
rule: torch.func.grad
"""

import torch

z = torch.tensor(1.0 - 2.0j)
torch.func.grad(lambda z: z * z)(z)  # raises RuntimeError
torch.func.grad_and_value(lambda z: z.conj())(z)  # raises RuntimeError
of_size = torch.func.grad(lambda z: (z * z).abs())(z)
of_constant = torch.func.grad(lambda z: torch.tensor(1.0j))(z)
_, pull = torch.func.vjp(lambda z: z * z, z)
(pulled,) = pull(torch.tensor(1.0 + 0.0j))
