"""deepcopy of a leaf takes a copy of its grad along, and leaves its hooks behind.

topic: copies
features: deepcopy, leaf, hooks, accumulate
rule: torch.Tensor
source: R157, pytorch/pytorch#3307
"""

import copy

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
h = a.register_hook(lambda g: print("hook", g))
(a * 3.0).sum().backward()
b = copy.deepcopy(a)
apart = b.grad is not a.grad
b.sum().backward()
