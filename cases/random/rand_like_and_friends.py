"""The *_like draws take shape and dtype from a tensor, but not its need for grad.

topic: random
features: rand-like, randn-like, requires-grad, manual-seed
rule: torch.rand_like
"""

import torch

torch.manual_seed(6)
x = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
uniform = torch.rand_like(x)
normal = torch.randn_like(x)
leaf = torch.rand_like(x, requires_grad=True)
whole = torch.randint_like(x, 5)
(leaf * x).sum().backward()
