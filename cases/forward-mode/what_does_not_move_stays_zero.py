"""The tangent of an operand that does not move is zero even times infinity or NaN, so that it cannot spoil that
of the other.

topic: forward-mode
features: dual-tensor, nan, quantile, dot
rule: torch.autograd.forward_ad
"""

import torch

fw = torch.autograd.forward_ad
inf, nan = float("inf"), float("nan")
x = torch.tensor([inf, 1.0, nan, 2.0])
with fw.dual_level():
    p = fw.make_dual(x, torch.tensor([1.0, 2.0, 3.0, 4.0]))
    mean = fw.unpack_dual(torch.nanmean(p)).tangent
    middle = fw.unpack_dual(torch.quantile(p, 0.4)).tangent
    product = fw.unpack_dual(torch.dot(p, torch.ones(4))).tangent
    quotient = fw.unpack_dual(p / torch.tensor([1.0, 2.0, 4.0, inf])).tangent
    mixed = fw.unpack_dual(torch.lerp(p, p * 2.0, torch.full((4,), 0.5))).tangent
    sized = fw.unpack_dual(torch.addcmul(p, torch.ones(4), x)).tangent
