"""y.mul_(y) saves its other operand, which is the tensor it overwrites, so backward fails.

topic: inplace
features: inplace, mul, version-counter
rule: torch.autograd mechanics, in-place operations
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x + 0.0
y.mul_(y)
y.sum().backward()  # raises version-mismatch
