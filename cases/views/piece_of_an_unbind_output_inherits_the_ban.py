"""An output of unbind must not be written in place, nor may a narrowed piece of it.

topic: views
features: multi-view, narrow, unbind, view-inplace
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
source: R045, pytorch/pytorch#36608
"""

import torch

x = torch.arange(4.0).reshape(2, 2).requires_grad_()
rows = x.clone().unbind()
rows[0].mul_(2.0)  # raises view-inplace
piece = rows[0].narrow(0, 0, 1)
piece.mul_(2.0)  # raises view-inplace
