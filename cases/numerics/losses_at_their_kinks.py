"""l1 has slope 0 where prediction and target meet; smooth_l1 reaches slope 1 at distance 1 and keeps it.

topic: numerics
features: l1-loss, smooth-l1, mse, subgradient
rule: torch.nn.functional.l1_loss
"""

import torch
import torch.nn.functional as F

x = torch.tensor([0.0, 1.0, -1.0, 3.0], requires_grad=True)
target = torch.zeros(4)
of_l1 = torch.autograd.grad(F.l1_loss(x, target, reduction="sum"), x)[0]
of_smooth = torch.autograd.grad(F.smooth_l1_loss(x, target, reduction="sum"), x)[0]
of_mse = torch.autograd.grad(F.mse_loss(x, target), x)[0]
