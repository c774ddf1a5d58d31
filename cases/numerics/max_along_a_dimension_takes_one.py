"""max along a dimension gives the whole gradient to the index it reports, unlike max over all elements.

topic: numerics
features: max, min, argmax, ties
rule: torch.max
"""

import torch

x = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]], requires_grad=True)
values, indices = x.max(dim=1)
values.sum().backward()
along = x.grad.clone()
x.grad = None
x.max().backward()
everywhere = x.grad.clone()
x.grad = None
x.amax(dim=1).sum().backward()
