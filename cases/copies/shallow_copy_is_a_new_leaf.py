"""copy.copy of a leaf shares its memory but neither its grad nor its version.

topic: copies
features: copy, leaf, storage, version-counter
rule: torch.Tensor
"""

import copy

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * 3.0).sum().backward()
y = copy.copy(x)
empty = y.grad
shared = y.data_ptr() == x.data_ptr()
with torch.no_grad():
    x.add_(1.0)
(y * 5.0).sum().backward()
