"""Softmax of a tensor without dimensions is 1 whatever the number, zero too; of infinity it is NaN.

topic: numerics
features: softmax, log-softmax, zero-dim
rule: torch.nn.functional.softmax
"""

import torch

x = torch.tensor(0.0, requires_grad=True)
one = x.softmax(0)
nothing = x.log_softmax(-1)
(one * 3.0 + nothing).backward()
large = torch.tensor(-1e30).softmax(0)
infinite = torch.tensor(float("inf")).softmax(0)
state = torch.zeros(3)
state[1] = state[0].softmax(0) * 2.0
