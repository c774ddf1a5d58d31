"""A leaf reached only through detach keeps grad None; a leaf multiplied by zero gets a grad of zero.

topic: accumulate
features: accumulate, detach, grad-none
rule: torch.Tensor.detach
source: R093, tinygrad/tinygrad#16230
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0], requires_grad=True)
(x.detach() * y).sum().backward()
of_x = x.grad
zero = torch.tensor([1.0], requires_grad=True)
(zero * 0.0).backward()
