"""Far out the second derivative of gelu is a positive zero, whichever formula is used.

topic: numerics
features: gelu, double-backward, signed-zero
rule: torch.nn.functional.gelu
"""

import torch
from torch.nn.functional import gelu

x = torch.tensor([-30.0, -1.0, 0.0, 30.0], requires_grad=True)
for formula in ("none", "tanh"):
    (slope,) = torch.autograd.grad(gelu(x, approximate=formula).sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x)
    print(formula, slope, bend)
