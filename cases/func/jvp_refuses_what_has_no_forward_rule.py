"""A transform in forward mode refuses the ops that forward mode refuses, nested or not, whatever their backward has.

topic: func
features: func, jvp, jacfwd, hessian, error
rule: torch.func.jvp
"""

import torch
import torch.nn.functional as F

x = torch.tensor([[0.5, -1.0], [2.0, 1.5]])
direction = torch.ones(2, 2)
torch.func.jvp(lambda t: torch.cdist(t, t * 2), (x,), (direction,))  # raises NotImplementedError
torch.func.jacfwd(lambda t: F.pdist(t))(x)  # raises NotImplementedError
torch.func.hessian(lambda t: torch.cdist(t, direction).sum())(x)  # raises NotImplementedError
torch.func.grad(lambda t: torch.func.jvp(F.pdist, (t,), (direction,))[1].sum())(x)  # raises NotImplementedError
of_gate = torch.func.jvp(F.hardsigmoid, (x,), (direction,))
of_part = torch.func.jvp(lambda t: t[0], (x,), (direction,))
