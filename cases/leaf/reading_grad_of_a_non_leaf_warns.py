"""grad of a non-leaf is None and reading it warns; after retain_grad it is filled and silent.

topic: leaf
features: leaf, grad, warning, retain-grad
rule: torch.Tensor.grad
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x * 2.0
z = y * 3.0
z.backward(retain_graph=True)
first = y.grad
y.retain_grad()
z.backward()
second = y.grad
