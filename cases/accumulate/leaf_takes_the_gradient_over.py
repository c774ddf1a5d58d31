"""A gradient that nobody else holds becomes grad without a copy; one that a hook keeps is copied.

topic: accumulate
features: accumulate, accumulate-grad, hooks, data-ptr
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)


def note(g):
    note.pointer = g.data_ptr()


h = a.register_hook(note)
a.exp().sum().backward()
taken = a.grad.data_ptr() == note.pointer
b = torch.tensor([1.0, 2.0], requires_grad=True)
kept = []
k = b.register_hook(lambda g: kept.append(g))
b.exp().sum().backward()
copied = b.grad.data_ptr() != kept[0].data_ptr()
