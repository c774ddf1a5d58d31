"""The requires_grad attribute can be set on leaves of floating type only, and to a bool only.

topic: leaf
features: leaf, requires-grad, error
rule: torch.Tensor.requires_grad
"""

import torch

x = torch.zeros(2)
x.requires_grad = True
y = x * 2.0
y.requires_grad = False  # raises leaf-flag
y.requires_grad = True  # raises leaf-flag
x.requires_grad = 1  # raises RuntimeError
k = torch.zeros(2, dtype=torch.int64)
k.requires_grad = True  # raises leaf-flag
