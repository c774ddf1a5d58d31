"""float64 draws use two words a number where float32 uses one.

topic: random
features: rand, randn, float64, manual-seed
rule: torch.rand
"""

import torch

torch.manual_seed(7)
uniform = torch.rand(3, dtype=torch.float64)
torch.manual_seed(7)
single = torch.rand(6)
torch.manual_seed(7)
normal = torch.randn(3, dtype=torch.float64)
many = torch.randn(20, dtype=torch.float64)
last = torch.rand(1)
