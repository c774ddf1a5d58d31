"""Each backward adds to grad in place: the same tensor object, with a risen version.

topic: accumulate
features: accumulate, backward
rule: torch.Tensor.backward
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * 2.0).sum().backward()
g = x.grad
(x * 3.0).sum().backward()
same = x.grad is g
version = g._version
