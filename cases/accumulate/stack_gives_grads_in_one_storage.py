"""The grads of stacked leaves are two windows on one storage: separate elements, separate versions.

topic: accumulate
features: accumulate, stack, storage, view
rule: torch.stack
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([3.0, 4.0], requires_grad=True)
torch.stack([x, y]).exp().sum().backward()
same_storage = x.grad.untyped_storage().data_ptr() == y.grad.untyped_storage().data_ptr()
offsets = (x.grad.storage_offset(), y.grad.storage_offset())
x.grad.zero_()
