"""A second derivative of zero is computed where an op has a tangent to give, and expanded where none leads.

topic: func
features: func, hessian, jacfwd, strides
rule: torch.func.hessian
source: found by refgrad fuzz
"""

import torch
import torch.nn.functional as F
from torch.func import hessian, jacfwd

x = torch.tensor([0.5, 1.5, -1.0])
through = hessian(torch.relu)(x)
flat = hessian(F.leaky_relu)(x)
straight = hessian(lambda t: t * 3.0)(x)
sign = jacfwd(torch.sign)(x)
bend = jacfwd(torch.func.grad(lambda t: t.abs().sum()))(x)
