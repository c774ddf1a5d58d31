"""After a write to the base the nodes of its unbind outputs cannot be rebuilt: using them raises, their
values do not.

topic: views
features: multi-view, unbind, stale-view, view-inplace
rule: torch.unbind
"""

import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
base = x * 1.0
first, second = base.unbind()
base.add_(10.0)
numbers = first.tolist()
first.sum()  # raises view-inplace
node = second.grad_fn  # raises view-inplace
constant = first.detach()
