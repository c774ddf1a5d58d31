"""randint draws within its bounds, randperm shuffles all numbers below n.

topic: random
features: randint, randperm, manual-seed
rule: torch.randint
"""

import torch

torch.manual_seed(1)
digits = torch.randint(10, (8,))
window = torch.randint(-5, 5, (2, 3))
large = torch.randint(0, 2**40, (3,))
order = torch.randperm(6)
small = torch.randint(0, 2, (4,), dtype=torch.int32)
after = torch.rand(1)
