"""A result changed under no_grad keeps its node: the gradient is that of the old formula, unless a saved
value was hit.

topic: modes
features: no-grad, inplace, version-counter
rule: torch.no_grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3.0
with torch.no_grad():
    y.fill_(100.0)
name = type(y.grad_fn).__name__
y.sum().backward()
z = x.exp()
with torch.no_grad():
    z.mul_(2.0)
z.sum().backward()  # raises version-mismatch
