"""requires_grad can be switched off on leaves only, and integers cannot have it; after detach_ the switch
works.

topic: leaf
features: leaf, requires-grad, detach
rule: torch.Tensor.requires_grad_
source: R021, Oneflow-Inc/oneflow#4552
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
y.requires_grad_(False)  # raises leaf-flag
y.requires_grad_(True)
k = torch.tensor([1, 2])
k.requires_grad_()  # raises leaf-flag
m = torch.tensor([1, 2], requires_grad=True)  # raises leaf-flag
y.detach_()
y.requires_grad_(False)
