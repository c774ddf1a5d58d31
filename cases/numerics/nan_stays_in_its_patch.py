"""A NaN or an infinity reaches only the patches that hold it, when pooling to a size and back through
resampling.

topic: numerics
features: pooling, interpolate, nan
rule: torch.nn.AdaptiveAvgPool1d
"""

import torch

x = torch.tensor([[[1.0, float("nan"), 3.0, float("-inf"), 5.0, 6.0]]], requires_grad=True)
pooled = torch.nn.functional.adaptive_avg_pool1d(x, 3)
last = torch.autograd.grad(pooled[0, 0, 2], x)[0]
y = torch.ones(1, 1, 4, requires_grad=True)
larger = torch.nn.functional.interpolate(y, size=8, mode="linear")
larger.backward(torch.tensor([[[1.0, float("inf"), 1.0, 1.0, 1.0, 1.0, float("nan"), 1.0]]]))
