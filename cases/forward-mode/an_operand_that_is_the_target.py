"""d.mul_(d): the rule of products meets the operand's new value, so the tangent is not the derivative's.

topic: forward-mode
features: dual-tensor, inplace
rule: torch.autograd.forward_ad
"""

import torch

fw = torch.autograd.forward_ad
with fw.dual_level():
    d = fw.make_dual(torch.tensor([3.0, 4.0]), torch.tensor([1.0, 2.0]))
    expected = d * d
    d.mul_(d)
    print(expected, d)
