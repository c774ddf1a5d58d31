"""A retained view of a view stays None when its base was changed in place in between: the node it had is no
longer on the path.

topic: views
features: view, retain-grad, inplace
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
source: R034, pytorch/pytorch#8874
"""

import torch

x = torch.ones(4, requires_grad=True)
base = x.clone()
view = base[2:]
y = view[1]
view.retain_grad()
base[0] += 0.0
y.backward()
seen = view.grad
