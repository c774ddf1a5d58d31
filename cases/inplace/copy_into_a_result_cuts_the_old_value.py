"""copy_ gives the overwritten history a zero gradient and its source the whole one, reduced to the source's
shape and dtype.

topic: inplace
features: inplace, copy, grad-fn
rule: torch.Tensor.copy_
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
source = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
y = x * 3.0
y.copy_(source)
y.sum().backward()
