"""A saved inner tensor that is detached in place cannot be unpacked any more.

topic: saved
features: saved-tensors, detach, leaf
rule: torch.Tensor.detach_
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
z = y * y
y.detach_()
z.sum().backward()  # raises saved-tensor
