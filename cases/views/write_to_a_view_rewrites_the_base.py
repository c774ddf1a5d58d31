"""A write to a view of a result gives the base a CopySlices node and the view a new view node.

topic: views
features: view, inplace, copy-slices
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = x * 2.0
view = base[1:]
view.mul_(10.0)
names = [type(base.grad_fn).__name__, type(view.grad_fn).__name__]
base.sum().backward()
