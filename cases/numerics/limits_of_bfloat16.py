"""bfloat16 has the range of float32 and three digits.

topic: numerics
features: bfloat16, finfo, printing, conversion
rule: torch.finfo
"""

import torch

limits = torch.finfo(torch.bfloat16)
print(limits, limits.eps, limits.max, limits.tiny, torch.bfloat16.itemsize, torch.bfloat16.is_floating_point)
x = torch.tensor([256.0, 257.0, 258.0, 3.14159, 1e38, 1e-40], dtype=torch.bfloat16)
print(x, x.tolist(), x.view(torch.int16), x.int()[:3])
above = torch.tensor(2**100 + 2**91, dtype=torch.float64).bfloat16()
from_integers = torch.tensor([2**24 + 1, 2**15 - 1]).to(torch.bfloat16)
drawn = torch.randn(3, dtype=torch.bfloat16, generator=torch.Generator().manual_seed(3))
steps = torch.arange(0, 1, 0.3, dtype=torch.bfloat16)
