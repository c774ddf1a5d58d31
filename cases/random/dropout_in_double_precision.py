"""dropout of float64 and of float32 draws its mask from the same stream.

topic: random
features: dropout, float64, manual-seed
rule: torch.nn.functional.dropout
"""

import torch
import torch.nn.functional as F

torch.manual_seed(4)
single = F.dropout(torch.ones(12), p=0.25)
torch.manual_seed(4)
double = F.dropout(torch.ones(12, dtype=torch.float64), p=0.25)
kept = [(single != 0).sum().item(), (double != 0).sum().item()]
after = torch.rand(1)
