"""The two leaves of a sum receive one gradient object, yet their grads do not share memory.

topic: accumulate
features: accumulate, add, data-ptr
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 4.0], requires_grad=True)
((a + b) * 2.0).sum().backward()
shared = a.grad.data_ptr() == b.grad.data_ptr()
a.grad.add_(100.0)
