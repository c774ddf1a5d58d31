"""A write to a view that saves its result and is written over: the error names the node of the view.

topic: inplace
features: in-place, view, version-counter, error
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x * 1.0
t = y.t()
t.sigmoid_()
t.add_(1.0)
t.sum().backward()  # raises version-mismatch
z = x * 1.0
row = z[0]
row.tanh_()
row.mul_(2.0)
z.sum().backward()  # raises version-mismatch
whole = x * 1.0
whole.exp_()
whole.add_(1.0)
whole.sum().backward()  # raises version-mismatch
