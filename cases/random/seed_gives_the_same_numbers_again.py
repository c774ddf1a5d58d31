"""The same seed gives the same numbers, and drawing goes on from there.

topic: random
features: manual-seed, rand
rule: torch.manual_seed
"""

import torch

torch.manual_seed(3)
first = torch.rand(3)
second = torch.rand(3)
torch.manual_seed(3)
again = torch.rand(6)
same = torch.equal(torch.cat([first, second]), again)
torch.manual_seed(-1)
negative = torch.rand(2)
