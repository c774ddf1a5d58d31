"""A number assigned by mask to an expanded tensor is a fill, which warns for itself.

topic: inplace
features: in-place, index, expand, warnings
rule: torch.Tensor.index_put_
"""

import torch

mask = torch.tensor([True, False, True])
one = torch.tensor(1.0).expand(3)
one[mask] = 2.0
rows = torch.tensor([1.0, 2.0, 3.0]).expand(2, 3)
rows[:, mask] = 5.0
rows[mask[:2]] = torch.tensor([7.0])
several = torch.tensor(1.0).expand(3)
several[mask] = torch.tensor([3.0, 4.0])
placed = torch.tensor(1.0).expand(3)
placed[torch.tensor([0])] = 2.0
