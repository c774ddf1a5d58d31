"""masked_fill_ and clamp_ pass no gradient where they replaced the value.

topic: inplace
features: inplace, masked-fill, clamp
rule: torch.Tensor.masked_fill_
"""

import torch

x = torch.tensor([-2.0, -0.5, 0.5, 2.0], requires_grad=True)
y = x * 1.0
y.masked_fill_(x > 1.0, 0.0)
y.clamp_(min=-1.0)
y.sum().backward()
