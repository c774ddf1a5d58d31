"""sin saves its input, so a change to it before backward is an error that names versions.

topic: inplace
features: version-counter, sin
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 2.0
c = b.sin()
b.mul_(3.0)
c.sum().backward()  # raises version-mismatch
