"""A name bound anew to a view of the leaf names a non-leaf: its grad is None, and the leaf holds the
gradient.

topic: leaf
features: leaf, view, grad, warning
rule: torch.Tensor.is_leaf
source: R014, pytorch/pytorch#8474
"""

import torch

x = torch.tensor([1.0, 2.0]).requires_grad_()
kept = x
x = x.view(-1, 1)
x.sum().backward()
lost = x.grad
