"""The binary cross entropy at a probability of zero keeps its mixed derivative finite by a bound that is not
quite that of its gradient.

topic: numerics
features: binary_cross_entropy, double-backward
rule: torch.nn.functional.binary_cross_entropy
"""

import torch

x = torch.tensor([0.0, 0.25, 1.0], dtype=torch.float64, requires_grad=True)
y = torch.tensor([0.5, 0.5, 0.5], dtype=torch.float64, requires_grad=True)
loss = torch.nn.functional.binary_cross_entropy(x, y, reduction="sum")
slope = torch.autograd.grad(loss, x, create_graph=True)[0]
mixed = torch.autograd.grad(slope.sum(), y)[0]
