"""A result that was overwritten with zeros sends zeros to its leaf, not None; its old node runs all the
same, and a spoilt saved result is noticed.

topic: inplace
features: inplace, zero, fill, grad-none
rule: torch.Tensor.zero_
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
y.zero_()
name = type(y.grad_fn).__name__
y.sum().backward()
z = x.exp()
z.fill_(3.0)
z.sum().backward()  # raises version-mismatch
