"""Booleans add and multiply, but subtraction and negation refuse them.

topic: errors
features: dtype, bool, error
rule: torch.sub, torch.neg
"""

import torch

mask = torch.tensor([True, False, True])
mask - mask  # raises RuntimeError
-mask  # raises dtype
both = mask + mask
product = mask * mask
turned = ~mask
count = mask.sum()
share = mask.float().mean()
