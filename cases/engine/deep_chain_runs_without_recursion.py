"""A chain of five thousand nodes is walked and freed without recursion.

topic: engine
features: engine, deep-graph, accumulate
rule: torch.autograd.backward
"""

import torch

x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
y = x
for _ in range(2500):
    y = y * 1.001 + 0.001
y.backward()
del y
