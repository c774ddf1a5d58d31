"""grad may be set to None or a tensor of the same shape and dtype; a number, another shape or dtype, or the
leaf itself is refused.

topic: leaf
features: leaf, grad-assignment, error
rule: torch.Tensor.grad
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
a.grad = torch.ones(3)  # raises grad-assignment
a.grad = torch.ones(2, dtype=torch.float64)  # raises grad-assignment
a.grad = 3  # raises grad-assignment
a.grad = a  # raises grad-assignment
a.grad = torch.tensor([5.0, 6.0])
(a * 2.0).sum().backward()
kept = a.grad
del a.grad
