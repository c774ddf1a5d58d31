"""Users may put functions of their own in the place of a method, call the former from it, and put it back.

topic: interface
features: method, operator, backward, monkeypatch
rule: torch.Tensor.backward
"""

import torch

calls = []
former_backward, former_add = torch.Tensor.backward, torch.Tensor.__add__


def counted_backward(self, *args, **kwargs):
    calls.append(tuple(self.shape))
    return former_backward(self, *args, **kwargs)


def counted_add(self, other):
    calls.append("add")
    return former_add(self, other)


torch.Tensor.backward, torch.Tensor.__add__ = counted_backward, counted_add
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x + 1.0).sum().backward()
(x + 2.0).sum().backward()
replaced = torch.Tensor.backward is counted_backward
torch.Tensor.backward, torch.Tensor.__add__ = former_backward, former_add
(x + 1.0).sum().backward()
restored = torch.Tensor.backward is former_backward
torch.Tensor.doubled = lambda self: self * 2.0
y = x.doubled()
del torch.Tensor.doubled
