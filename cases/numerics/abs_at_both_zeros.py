"""The slope of abs is 0 at zero and at negative zero.

topic: numerics
features: abs, signed-zero, smooth-l1, subgradient
rule: torch.abs
source: R119, jax-ml/jax#37820
"""

import torch
import torch.nn.functional as F

x = torch.tensor([0.0, -0.0, 1.0, -1.0], requires_grad=True)
g = torch.autograd.grad(x.abs().sum(), x)[0]
h = torch.autograd.grad(F.smooth_l1_loss(x, torch.zeros(4), reduction="sum", beta=0.0), x)[0]
