"""A write to a view that begins behind its base reaches the right elements when views are replayed, too.

topic: views
features: views, _force_original_view_tracking, in-place, CopySlices
rule: torch.autograd
source: probed on torch 2.13.0
"""

import torch

x = torch.ones(3, 3, requires_grad=True)
with torch.autograd._force_original_view_tracking(True):
    rows = x * 1
    rows[1:].mul_(5.0)
torch.autograd.grad(rows.sum(), x)
with torch.autograd._force_original_view_tracking(True):
    base = x * 1
    above = base.diagonal(1)
    above.mul_(2.0)
    column = base.t()[1]
    column.add_(above.sum())
torch.autograd.grad(base.sum(), x)
column
