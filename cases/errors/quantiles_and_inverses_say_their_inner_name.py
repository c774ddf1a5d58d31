"""nanquantile is refused in the name of quantile, a singular tensor inverse in the name of inv.

topic: errors
features: quantile, tensorinv, refused
rule: torch.nanquantile
"""

import torch

torch.ones(0).nanquantile(0.5)  # raises RuntimeError
torch.ones(2).nanquantile(2.0)  # raises RuntimeError
torch.ones(2).nanquantile(torch.ones(1, 1))  # raises RuntimeError
torch.ones(2).nanquantile(0.5, interpolation="cubic")  # raises RuntimeError
torch.linalg.tensorinv(torch.zeros(2, 2), ind=1)  # raises _LinAlgError
