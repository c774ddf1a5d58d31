"""A retained grad is a copy that the next run replaces by the sum; the old tensor keeps its value.

topic: accumulate
features: accumulate, retain-grad, retain-graph
rule: torch.Tensor.retain_grad
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
b.retain_grad()
c = b * 3.0
c.backward(retain_graph=True)
old = b.grad
c.backward()
replaced = b.grad is not old
