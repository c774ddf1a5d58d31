"""A write to a view puts its gradient where the view lies in its base, wherever the base begins in memory.

topic: inplace
features: in-place, view, .data, storage_offset
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

a = torch.tensor([3.0, 5.0], requires_grad=True)
base = torch.arange(6.0)[2:].data
print(base.storage_offset(), base._is_view())
part = base[1:3]
part.mul_(a)
base.backward(torch.tensor([1.0, 10.0, 100.0, 1000.0]))
print(a.grad, base.grad_fn.name())
