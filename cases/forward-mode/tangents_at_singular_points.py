"""Where the backward divides zero by zero, tangents have formulas of their own: powers at zero, norms of zeros,
angles and signs of complex zeros.

topic: forward-mode
features: dual-tensor, pow, norm, complex
rule: torch.autograd.forward_ad
"""

import torch

fw = torch.autograd.forward_ad
with fw.dual_level():
    z = fw.make_dual(torch.zeros(2), torch.tensor([1.0, -2.0]))
    power = fw.unpack_dual(z**z).tangent
    cube = fw.unpack_dual(torch.linalg.vector_norm(z, 3)).tangent
    apart = fw.unpack_dual(torch.dist(z, z + 0.0, 2.5)).tangent
    turned = fw.unpack_dual(torch.complex(z, z).angle()).tangent
    unit = fw.unpack_dual(torch.complex(z, z).sgn()).tangent
    grown = fw.unpack_dual(torch.polar(z, torch.zeros(2))).tangent
    signed = fw.unpack_dual(torch.copysign(torch.ones(2), z)).tangent
slope = torch.func.jvp(lambda x: x.norm(p=4), (torch.zeros(3),), (torch.ones(3),))
