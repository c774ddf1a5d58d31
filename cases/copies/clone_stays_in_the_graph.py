"""clone copies the memory and keeps the history; detach keeps the memory and drops the history.

topic: copies
features: clone, detach, version-counter
rule: torch.Tensor.clone
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
clone = y.clone()
detached = y.detach()
clone.mul_(10.0)
both = [clone.data_ptr() == y.data_ptr(), detached.data_ptr() == y.data_ptr()]
clone.sum().backward()
