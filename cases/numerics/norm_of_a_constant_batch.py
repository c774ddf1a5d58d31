"""Batch norm multiplies and shifts: of a constant batch comes not 0 but what one rounding leaves.

topic: numerics
features: batch-norm, group-norm, layer-norm, rounding
rule: torch.nn.BatchNorm1d
"""

import torch
import torch.nn.functional as F

x = torch.full((4, 2, 3), 7.3, requires_grad=True)
batch = F.batch_norm(x, None, None, training=True)
evaluated = F.batch_norm(x, torch.full((2,), 7.3), torch.full((2,), 1e-4))
weight, bias = torch.tensor([0.7, 1.0]), torch.tensor([0.3, 0.0])
group = F.group_norm(x, 1, weight, bias)
plain = F.group_norm(x, 1)
layer = F.layer_norm(x, (2, 3))
(batch + evaluated + group + plain + layer).sum().backward()
