"""What was computed from a view before the base was written keeps its graph; what is computed after uses the
new one.

topic: views
features: view, inplace, stale-view
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
base = x + 0.0
view = base[:1]
early = view + 1.0
base.mul_(10.0)
late = view + 1.0
of_early = torch.autograd.grad(early.sum(), x)[0]
of_late = torch.autograd.grad(late.sum(), x)[0]
