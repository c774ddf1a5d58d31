"""Batch norm in training would update the statistics that all samples share: vmap refuses.

topic: func
features: func, vmap, batch-norm, error
rule: torch.func.vmap
source: aten/src/ATen/functorch/BatchRulesNorm.cpp
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import grad, vmap

x = torch.arange(24.0).reshape(2, 4, 3) ** 2
vmap(nn.BatchNorm1d(3))(x)  # raises RuntimeError
vmap(nn.InstanceNorm1d(4, track_running_stats=True))(x[:, None])  # raises RuntimeError
shared = nn.BatchNorm1d(3)
vmap(grad(lambda v: shared(v).sum()))(x)  # raises RuntimeError
a = vmap(nn.BatchNorm1d(3, track_running_stats=False))(x)
b = vmap(nn.BatchNorm1d(3).eval())(x)
mean, var = torch.zeros(2, 3), torch.ones(2, 3)
c = vmap(lambda v, m, s: F.batch_norm(v, m, s, training=True))(x, mean, var).contiguous()
torch.manual_seed(0)
draw = vmap(vmap(lambda p: torch.multinomial(p, 2), randomness="different"), randomness="different")
d = draw(x + 1)
