"""Whoever holds grad from the last pass sees the next pass added into it; clearing grad to None gives a new
tensor.

topic: accumulate
features: accumulate, alias, version-counter
rule: torch.Tensor.grad
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
(x * 2.0).backward()
held = x.grad
view = held.view(1, 1)
(x * 3.0).backward()
x.grad = None
(x * 10.0).backward()
