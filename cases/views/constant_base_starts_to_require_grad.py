"""A view of a constant written with a differentiable value makes the whole base, and its other views,
require grad.

topic: views
features: view, inplace, requires-grad
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

w = torch.tensor([3.0], requires_grad=True)
base = torch.zeros(3)
view = base[1:2]
other = base[:1]
flags_before = [base.requires_grad, view.requires_grad, other.requires_grad]
view.copy_(w)
flags_after = [base.requires_grad, view.requires_grad, other.requires_grad]
base.sum().backward()
