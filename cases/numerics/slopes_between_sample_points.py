"""torch.gradient takes differences between sample points, even or not, with one-sided or curved ends; the
points get gradients too.

topic: numerics
features: gradient, spacing, edge-order, graph
rule: torch.gradient
"""

import torch

heights = torch.tensor([1.0, 3.0, 2.0, 6.0], requires_grad=True)
points = torch.tensor([0.0, 1.0, 4.0, 5.0], requires_grad=True)
(even,) = torch.gradient(heights, spacing=2.0)
(curved,) = torch.gradient(heights, spacing=[points], edge_order=2)
(even * curved).sum().backward()
table = torch.arange(6.0).view(2, 3).requires_grad_()
down, along = torch.gradient(table, dim=(0, 1), spacing=(1.0, 0.5))
(down * along).sum().backward()
torch.gradient(heights, spacing=(1.0, 2.0))  # raises RuntimeError
torch.gradient(heights[:2], edge_order=2)  # raises RuntimeError
torch.gradient(table, dim=(0, 0))  # raises RuntimeError
