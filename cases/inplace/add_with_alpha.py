"""add_ and sub_ take alpha, a factor for the other operand that its gradient carries too.

topic: inplace
features: inplace, add, sub, alpha
rule: torch.add
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([10.0, 20.0], requires_grad=True)
y = x * 1.0
y.add_(w, alpha=3.0)
y.sub_(w, alpha=0.5)
y.sum().backward()
