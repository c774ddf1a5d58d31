"""An auxiliary output that is the output itself takes nothing from its derivative.

topic: func
features: func, vjp, jacrev, has_aux
rule: torch.func.vjp
source: documentation of torch.func.jacrev
"""

import torch
from torch.func import grad, jacfwd, jacrev, vjp

def both(x):
    result = x.sin()
    return result, result

x = torch.tensor([0.5, 1.0])
jacobian, aux = jacrev(both, has_aux=True)(x)
columns, other = jacfwd(both, has_aux=True)(x)
output, pull, third = vjp(both, x, has_aux=True)
(row,) = pull(torch.ones(2))
slope, value = grad(lambda t: (t.sin().sum(), t.cos()), has_aux=True)(x)
print(jacobian, columns, row, slope, value)
