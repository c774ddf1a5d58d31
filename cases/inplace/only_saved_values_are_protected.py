"""A view changed under no_grad between two passes is no error when the graph saved no value of it, and is
one when it did.

topic: inplace
features: version-counter, no-grad, view, mul
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
source: R029, pytorch/pytorch#197054
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
view = x.view(-1)
out = view * 2.0
before = torch.autograd.grad(out.sum(), x, retain_graph=True)[0]
with torch.no_grad():
    view.add_(1.0)
after = torch.autograd.grad(out.sum(), x)[0]
w = torch.tensor([3.0, 4.0], requires_grad=True)
saved = (x * w).sum()
with torch.no_grad():
    view.add_(1.0)
saved.backward()  # raises version-mismatch
