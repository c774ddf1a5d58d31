"""A view of a constant may itself become a leaf that requires grad; the base does not, and the view then
refuses writes.

topic: views
features: view, leaf, requires-grad, leaf-inplace
rule: torch.Tensor.requires_grad_
"""

import torch

base = torch.tensor([1.0, 2.0, 3.0])
view = base[1:].requires_grad_()
flags = [base.requires_grad, view.requires_grad, view.is_leaf]
(view * 2.0).sum().backward()
view.add_(1.0)  # raises leaf-inplace
base.add_(1.0)
