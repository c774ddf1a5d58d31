"""An assignment by mask or list writes the tensor itself with index_put_; the written places get no
gradient, the values do.

topic: inplace
features: inplace, index-put, index-assignment, mask
rule: torch.Tensor.index_put_
"""

import torch

x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
v = torch.tensor(10.0, requires_grad=True)
y = x * 2.0
y[y < 0] = v
name = type(y.grad_fn).__name__
y[[0, 2]] = torch.tensor([7.0, 8.0])
y.sum().backward()
