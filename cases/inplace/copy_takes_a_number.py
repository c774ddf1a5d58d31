"""copy_ takes a Python number as a tensor of the number's own type; requires_grad_ takes nothing but a bool.

topic: inplace
features: inplace, copy_, requires_grad_
rule: torch.Tensor.copy_
"""

import torch

b = torch.ones(2, requires_grad=True) * 1
b.copy_(3)
b.copy_(True)
b.copy_(2.5, non_blocking=True)
b.copy_(1j)
b.copy_([1, 2])  # raises argument
torch.ones(2).requires_grad_(requires_grad=None)  # raises argument
torch.ones(2).requires_grad_(True, 1)  # raises argument
torch.ones(2).requires_grad_(flag=True)  # raises argument
one = torch.tensor([1.0], requires_grad=True)
copy = one.clone()
copy.copy_(torch.tensor(1))
torch.autograd.grad(copy.sum(), [one, copy])[0].stride()
