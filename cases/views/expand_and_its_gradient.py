"""expand repeats with stride zero; its gradient is the sum over the repeated dimensions.

topic: views
features: expand, broadcast, strides
rule: torch.Tensor.expand
"""

import torch

x = torch.tensor([[1.0], [2.0]], requires_grad=True)
wide = x.expand(3, 2, 4)
strides = wide.stride()
(wide * torch.arange(4.0)).sum().backward()
x.expand(2, 2, 3).expand(5, 3)  # raises shape
