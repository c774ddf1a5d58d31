"""Of equal elements the running extreme is the last, its sign too; a running logarithm of sums has no negative zero.

topic: numerics
features: cummax, cummin, logcumsumexp, signed-zero
rule: torch.cummax
"""

import torch

x = torch.tensor([0.0, -0.0, -1.0, -0.0], requires_grad=True)
highest = torch.cummax(x, 0)
lowest = torch.cummin(x, 0)
(highest.values + 2 * lowest.values).sum().backward()
halves = torch.cummax(x.half(), 0).values
logs = torch.logcumsumexp(torch.tensor([-0.0, float("-inf")]), 0)
