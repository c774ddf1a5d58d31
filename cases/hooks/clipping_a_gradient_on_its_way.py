"""A hook that clamps the gradient of a hidden layer limits what everything below it receives.

topic: hooks
features: hooks, clamp, hook-replacement
rule: torch.Tensor.register_hook
"""

import torch

x = torch.tensor([[1.0, -2.0]], requires_grad=True)
w = torch.tensor([[3.0, 0.5], [-1.0, 2.0]], requires_grad=True)
hidden = x @ w
h = hidden.register_hook(lambda g: g.clamp(-1.0, 1.0))
(hidden**2).sum().backward()
