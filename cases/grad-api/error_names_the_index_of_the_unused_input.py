"""The error for an unused input tells which one it is; the same input may be asked for twice.

topic: grad-api
features: grad, unused-input, error
rule: torch.autograd.grad
source: R173, pytorch/pytorch#181917
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = torch.tensor([1.0], requires_grad=True)
y = (a * 2.0).sum()
g = torch.autograd.grad(y, (a, b), retain_graph=True)  # raises unused-input
g = torch.autograd.grad(y, (b, a), retain_graph=True)  # raises unused-input
g = torch.autograd.grad(y, (a, a))
