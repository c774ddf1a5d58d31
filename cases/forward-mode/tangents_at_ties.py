"""Of equal operands fmax has the tangent of the second, although its gradient goes to the first; a clamp that
is just met has the tangent of its bound.

topic: forward-mode
features: dual-tensor, fmax, clamp, ties
rule: torch.autograd.forward_ad
"""

import torch

fw = torch.autograd.forward_ad
x, y = torch.tensor([1.0, 2.0, float("nan")]), torch.tensor([1.0, float("nan"), 3.0])
with fw.dual_level():
    p, q = fw.make_dual(x, torch.tensor([10.0, 20.0, 30.0])), fw.make_dual(y, torch.tensor([1.0, 2.0, 3.0]))
    greater = fw.unpack_dual(torch.fmax(p, q)).tangent
    smaller = fw.unpack_dual(torch.fmin(p, q)).tangent
    raised = fw.unpack_dual(torch.clamp(p, q)).tangent
    capped = fw.unpack_dual(torch.clamp(p, max=q)).tangent
    between = fw.unpack_dual(torch.clamp(p, q, q + 1.0)).tangent
v = torch.tensor([1.0, 1.0], requires_grad=True)
back = torch.autograd.grad(torch.fmax(v[0], v[1]), v)[0]
