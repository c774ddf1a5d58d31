"""lgamma is infinite at its poles; its slope is infinite at both zeros, against their sign, and NaN at
negative integers and at minus infinity.

topic: numerics
features: special-functions, infinity, nan
rule: torch.lgamma
"""

import torch

x = torch.tensor([0.0, -0.0, -1.0, float("inf"), float("-inf"), -0.5], requires_grad=True)
y = x.lgamma()
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g[3:].sum(), x)
