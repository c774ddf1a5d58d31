"""allow_unused gives None for an unused leaf, but an input that does not require grad is an error all the
same.

topic: grad-api
features: grad, allow-unused, no-grad, unused-input
rule: torch.autograd.grad
source: R168, pytorch/pytorch#115918
"""

import torch

a = torch.tensor([1.0, 2.0])
b = torch.tensor([3.0, 4.0], requires_grad=True)
unused = torch.tensor([1.0], requires_grad=True)
c = a @ b
g = torch.autograd.grad(c, [a, b], allow_unused=True)  # raises no-grad
g = torch.autograd.grad(c, [unused, b])  # raises unused-input
g = torch.autograd.grad(a @ b, [unused, b], allow_unused=True)
