"""Two passes over one retained graph add up in the leaf and in a retained non-leaf alike.

topic: accumulate
features: accumulate, retain-grad, retain-graph
rule: torch.Tensor.backward, torch.Tensor.retain_grad
source: R092, karpathy/micrograd#102
"""

import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * x
y.retain_grad()
z = y * 3.0
z.backward(retain_graph=True)
z.backward()
