"""permute wants each dimension once, expand cannot shrink or change a size above one, repeat needs enough
numbers.

topic: errors
features: shape, expand, permute, repeat, error
rule: torch.Tensor.permute
"""

import torch

x = torch.ones(2, 3, requires_grad=True)
x.permute(0)  # raises shape
x.permute(0, 0)  # raises RuntimeError
x.expand(3, 3)  # raises shape
x.expand(3)  # raises shape
x.repeat(2)  # raises shape
x.split([1, 3], dim=1)  # raises shape
x.permute(1, 0).sum().backward()
