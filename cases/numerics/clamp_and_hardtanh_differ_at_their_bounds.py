"""At its bounds clamp has slope 1 with number bounds and passes nothing to tensor bounds; relu6 and hardtanh
have slope 0.

topic: numerics
features: clamp, hardtanh, relu6, subgradient
rule: torch.clamp
source: R111, pytorch/pytorch#184574
"""

import torch
import torch.nn.functional as F

x = torch.tensor([0.0, 6.0], requires_grad=True)
of_relu6 = torch.autograd.grad(F.relu6(x).sum(), x)[0]
of_clamp = torch.autograd.grad(torch.clamp(x, 0.0, 6.0).sum(), x)[0]
of_hardtanh = torch.autograd.grad(F.hardtanh(x, 0.0, 6.0).sum(), x)[0]
low = torch.tensor(0.0, requires_grad=True)
high = torch.tensor(6.0, requires_grad=True)
with_bounds = torch.autograd.grad(torch.clamp(x, low, high).sum(), (x, low, high))
