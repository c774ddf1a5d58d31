"""From 16 elements on normal numbers are made in blocks, so the first of 16 is not the first of 15.

topic: random
features: randn, manual-seed
rule: torch.randn
"""

import torch

torch.manual_seed(0)
fifteen = torch.randn(15)
torch.manual_seed(0)
sixteen = torch.randn(16)
torch.manual_seed(0)
seventeen = torch.randn(17)
after = torch.rand(2)
table = torch.randn(4, 5)
