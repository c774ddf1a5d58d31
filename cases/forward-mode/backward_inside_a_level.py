"""Gradients of duals carry tangents (forward over reverse); what accumulates in .grad drops them.

topic: forward-mode
features: dual-tensor, grad-api, accumulate
rule: torch.autograd.forward_ad
"""

import torch

fw = torch.autograd.forward_ad
x = torch.tensor(2.0, requires_grad=True)
with fw.dual_level():
    d = fw.make_dual(x, torch.tensor(1.0))
    (d**3).backward()
    print(x.grad)
    print(torch.autograd.grad(d**3, x))
    print(torch.autograd.grad(d.exp() * 2, x))
    tangent = fw.unpack_dual(d**3).tangent
    print(tangent)
tangent.backward()
