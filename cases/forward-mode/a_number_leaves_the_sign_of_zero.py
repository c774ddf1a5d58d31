"""Adding a number leaves a tangent as it is, a negative zero too.

topic: forward-mode
features: dual_level, jvp, signed zero
rule: torch.autograd.forward_ad.make_dual
source: found by refgrad fuzz
"""

import torch
import torch.autograd.forward_ad as fw

x = torch.tensor([-1.0, 0.5, 3.0])
direction = torch.tensor([1.0, -2.0, 0.5])
value, tangent = torch.func.jvp(lambda t: (t - 0.5) * (t - 0.5) + 1.0, (x,), (direction,))
with fw.dual_level():
    dual = fw.make_dual(x, direction)
    moved = fw.unpack_dual(1.0 + (dual - 0.5) * (dual - 0.5)).tangent
