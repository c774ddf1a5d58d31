"""The 3-norm of a tiny number underflows on the way back in float16 and becomes NaN; in float32 the slope is
one.

topic: numerics
features: norm, float16, underflow, nan
rule: torch.linalg.vector_norm
source: R136, pytorch/pytorch#43211
"""

import torch

a = torch.tensor([1e-4], dtype=torch.float16, requires_grad=True)
a.norm(3).backward()
b = torch.tensor([1e-4], requires_grad=True)
b.norm(3).backward()
