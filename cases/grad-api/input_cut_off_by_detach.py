"""Of two inputs one is cut off by detach: the error names its index, and allow_unused gives None there.

topic: grad-api
features: grad, detach, allow-unused, unused-input
rule: torch.autograd.grad
source: R171, pytorch/pytorch#17124
"""

import torch

w = torch.tensor([2.0], requires_grad=True)
t = torch.tensor([3.0], requires_grad=True)
u = torch.tensor([4.0], requires_grad=True)
out = (w * t + w * u.detach()).sum()
g = torch.autograd.grad(out, (t, u), retain_graph=True)  # raises unused-input
g = torch.autograd.grad(out, (t, u), allow_unused=True)
