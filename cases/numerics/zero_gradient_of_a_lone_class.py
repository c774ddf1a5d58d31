"""Softmax along the last dimension sums zero gradients with their sign; along others it starts from plus zero.

topic: numerics
features: softmax, log_softmax, cross_entropy, signed-zero
rule: torch.nn.functional.log_softmax
"""

import torch
import torch.nn.functional as F

c = torch.tensor([[1.0], [2.0]], requires_grad=True)
minus = torch.full((2, 1), -0.0)
last = torch.autograd.grad(F.log_softmax(c, 1), c, minus)[0]
first = torch.autograd.grad(F.log_softmax(c, 0), c, minus)[0]
soft = torch.autograd.grad(F.softmax(c, 1), c, minus)[0]
k = F.cross_entropy(c, torch.tensor([0, 0])).square()
k.backward()
print(last.signbit().tolist(), first.signbit().tolist(), soft.signbit().tolist(), c.grad.signbit().tolist())
