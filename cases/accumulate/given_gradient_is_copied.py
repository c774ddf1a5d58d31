"""A gradient given by the caller is copied into grad, so changing it afterwards changes nothing.

topic: accumulate
features: accumulate, gradient-argument, data-ptr
rule: torch.Tensor.backward
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
given = torch.tensor([10.0, 20.0])
(a + 0.0).backward(given)
shared = a.grad.data_ptr() == given.data_ptr()
given.zero_()
