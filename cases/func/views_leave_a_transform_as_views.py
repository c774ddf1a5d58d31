"""A result that is a view of an argument is one outside the transform as well, and so is a gradient that is one.

topic: func
features: func, view, base, grad_and_value
rule: torch.func.grad_and_value
"""

import torch

table = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
slope, corner = torch.func.grad_and_value(lambda t: t[1, 1])(table)
corner.fill_(40.0)
turned = torch.func.grad(lambda t: (t.t() * torch.tensor([1.0, 10.0])).sum())(table)
shown, pull = torch.func.vjp(lambda t: t[0], table)
(back,) = pull(torch.ones(2))
weight = torch.tensor([2.0], requires_grad=True)
captured = torch.func.grad(lambda t: (t.view(4) * weight).sum())(table)
captured.sum().backward()
