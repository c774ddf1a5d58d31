"""Up to 15 normal numbers are drawn one by one in pairs, and a spare one waits for the next call.

topic: random
features: randn, manual-seed
rule: torch.randn
"""

import torch

torch.manual_seed(0)
one = torch.randn(1)
two = torch.randn(2)
fifteen = torch.randn(15)
uniform = torch.rand(2)
torch.manual_seed(0)
together = torch.randn(3)
