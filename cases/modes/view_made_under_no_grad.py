"""A view made under no_grad requires grad yet is a leaf without a node, and may be changed in place only
under no_grad.

topic: modes
features: no-grad, view, view-inplace
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
source: R155, pytorch/pytorch#32839
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
base = x.clone()
with torch.no_grad():
    view = base[:1]
flags = [view.requires_grad, view.is_leaf, view.grad_fn is None]
view.mul_(2.0)  # raises view-inplace
with torch.no_grad():
    view.mul_(2.0)
base.sum().backward()
