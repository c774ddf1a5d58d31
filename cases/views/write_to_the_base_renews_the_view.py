"""A write to the base makes its views' nodes stale; they are built anew on the base's new history.

topic: views
features: view, inplace, stale-view
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = x * 2.0
view = base[1:]
before = type(view.grad_fn).__name__
base.mul_(10.0)
after = type(view.grad_fn).__name__
view.sum().backward()
