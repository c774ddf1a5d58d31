"""Gradients that meet while a level is open have tangents that meet too.

topic: forward-mode
features: reverse-over-forward, accumulation
rule: torch.autograd.forward_ad.make_dual
"""

import torch
import torch.autograd.forward_ad as fw

x = torch.tensor([1.0, 2.0], requires_grad=True)
with fw.dual_level():
    t = fw.make_dual(x, torch.tensor([1.0, 10.0]))
    u = t * 1.0
    y = u * u + u * u * u + u
    g = torch.autograd.grad(y.sum(), x)[0]
    print(fw.unpack_dual(g).primal, fw.unpack_dual(g).tangent)
    y = (u * u).sum() + (u * u * u).sum() + u.exp().sum()
    g = torch.autograd.grad(y, u)[0]
    print(fw.unpack_dual(g).primal, fw.unpack_dual(g).tangent)
