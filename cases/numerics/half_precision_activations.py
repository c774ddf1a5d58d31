"""Gradients of activations in half precision are computed in single and rounded once; none overflows on the way.

topic: numerics
features: half, activation, rounding, overflow
rule: torch.nn.functional.softplus
"""

import torch
import torch.nn.functional as F

x = torch.tensor([-2.5, 0.5, 3.0, 20.0], dtype=torch.float16, requires_grad=True)
for function in (torch.tanh, F.hardswish, F.softplus, F.logsigmoid, F.gelu, torch.rsqrt):
    (grad,) = torch.autograd.grad(function(x).sum(), x)
    print(function(x), grad)
gated = F.glu(x)
between = torch.lerp(x, -x, 0.3)
moved = torch.addcdiv(x, x, x + 1, value=0.3)
scaled = torch.ldexp(x, torch.tensor([2]))
