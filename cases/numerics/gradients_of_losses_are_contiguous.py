"""The gradients of most losses lie in row-major order whatever their operands do; those of activations do not.

topic: numerics
features: loss, transpose, strides
rule: torch.nn.functional.mse_loss
source: generated
"""

import torch
import torch.nn.functional as F

grid = torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
a = grid.t().requires_grad_()
b = grid.t().requires_grad_()
losses = [
    F.mse_loss(a, a),
    F.smooth_l1_loss(a, b),
    F.huber_loss(a, b),
    F.multi_margin_loss(a, torch.tensor([0, 1, 0])),
]
strides = [torch.autograd.grad(loss, a)[0].stride() for loss in losses]
row = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
column = row.permute(1, 0)
pieces = [column.clamp(-1.0, 1.0), column.clamp(min=0.0), F.elu(column), F.softplus(column), F.gelu(column), F.hardshrink(column)]
others = [torch.autograd.grad(piece.sum(), column)[0].stride() for piece in pieces]
print(strides, others)
