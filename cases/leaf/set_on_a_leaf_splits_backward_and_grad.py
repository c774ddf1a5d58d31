"""After set_ on a leaf, backward still fills its grad while autograd.grad calls the same leaf unused.

topic: leaf
features: leaf, set, grad, unused-input
rule: torch.autograd.grad
source: R020, pytorch/pytorch#110780
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.sum()
with torch.no_grad():
    x.set_(torch.tensor([5.0, 6.0]))
y.backward(retain_graph=True)
got = x.grad
g = torch.autograd.grad(y, x)  # raises unused-input
