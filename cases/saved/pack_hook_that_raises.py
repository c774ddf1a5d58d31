"""Inputs are packed before a call in place writes: where the hook raises, target, version and history stay.

topic: saved
features: saved-tensors-hooks, in-place, error
rule: torch.autograd.graph.saved_tensors_hooks
"""

import torch


def refuse(tensor):
    raise ValueError("no room")


def unchanged(tensor):
    return tensor


x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
y, z = x.clone(), x.clone()
hooks = torch.autograd.graph.saved_tensors_hooks(refuse, unchanged)
with hooks:
    y.mul_(w)  # raises ValueError
with hooks:
    y[:1].div_(w[:1])  # raises ValueError
with hooks:
    y.masked_fill_(y > 1.5, 0.0)  # raises ValueError
with hooks:
    y.add_(w)
with hooks:
    z.exp_()  # raises ValueError
product = None
with hooks:
    product = x * w  # raises ValueError
y.sum().backward()
