"""A grad set to an expanded tensor cannot be added into.

topic: accumulate
features: accumulate, overlap, expand
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
a.grad = torch.zeros(1).expand(2)
(a * 3.0).sum().backward()  # raises overlap
