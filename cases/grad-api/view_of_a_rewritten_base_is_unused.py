"""A view taken before its base was rewritten is no longer between the loss and the leaf.

topic: grad-api
features: grad, view, allow-unused, stale-view
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
base = x.clone()
view = base[:1]
used = torch.autograd.grad(base.sum(), view, allow_unused=True, retain_graph=True)
base.mul_(3.0)
loss = base.sum()
unused = torch.autograd.grad(loss, view, allow_unused=True, retain_graph=True)
of_leaf = torch.autograd.grad(loss, x)
