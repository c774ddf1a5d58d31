"""Ops without a forward derivative, and out= functions, refuse a dual.

topic: forward-mode
features: dual-tensor, error
rule: https://docs.pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation
"""

import torch

fw = torch.autograd.forward_ad
level = fw.enter_dual_level()
d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
a = torch.heaviside(d, d)  # raises NotImplementedError
b = torch.cdist(d.view(2, 1), d.view(2, 1))  # raises NotImplementedError
c = torch.mul(d, 2, out=torch.empty(2))  # raises NotImplementedError
e = torch.igamma(d, d)  # raises NotImplementedError
f = d.clone().igamma_(d)  # raises NotImplementedError
fw.exit_dual_level()
