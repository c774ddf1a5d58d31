"""Functions of any number of tensors take them one by one; a list, a number or a text among them is refused by
its place.

topic: errors
features: broadcast_tensors, meshgrid, cdist, error
rule: torch.broadcast_tensors
"""

import torch

one, two = torch.ones(1), torch.ones(2)
torch.broadcast_tensors([one, two])  # raises TypeError
torch.block_diag(one, 2)  # raises TypeError
torch.cartesian_prod([one])  # raises TypeError
torch.meshgrid(one, "two")  # raises TypeError
grid = torch.meshgrid([one, two], indexing="ij")
torch.cdist(torch.ones(2, 2), "two")  # raises TypeError
torch.broadcast_shapes((2,), 3.0)  # raises RuntimeError
torch.unique(torch.ones(2, 0), dim=0)  # raises RuntimeError
torch.repeat_interleave(torch.ones(2, 2))  # raises NotImplementedError
