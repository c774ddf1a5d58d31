"""A refused in-place call leaves value, version and node as they were.

topic: inplace
features: inplace, version-counter, error
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
y.add_(torch.ones(3))  # raises shape
y.sub_("a")  # raises argument
y.sum().backward()
