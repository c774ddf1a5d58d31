"""A fill with a tensor is a copy: it casts as copies do, and refuses elements that share memory, which
threshold and a fill with a number accept.

topic: inplace
features: inplace, fill, expand, complex, error
rule: torch.Tensor.fill_
"""

import torch
import torch.nn.functional as F

shared = torch.ones(1, 4).expand(3, 4)
shared.fill_(2.0)
shared[...] = 3.0  # raises RuntimeError
shared[:, 0] = 3.0  # raises RuntimeError
shared.fill_(torch.tensor(4.0))  # raises RuntimeError
F.threshold(shared, 5.0, 6.0, inplace=True)
real = torch.zeros(2)
real.fill_(torch.tensor(2.5 + 1j))
byte = torch.zeros(2, dtype=torch.uint8).fill_(torch.tensor(300))
byte.fill_(300)  # raises RuntimeError
swapped = F.hardtanh_(torch.ones(2), 2, 1)
