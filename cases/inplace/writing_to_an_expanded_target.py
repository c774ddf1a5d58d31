"""A write to a part of an expanded tensor that overlaps itself is refused; a write to distinct elements is
seen in every row.

topic: inplace
features: overlap, expand, index-assignment
rule: torch.Tensor.expand
source: R101, pytorch/pytorch#7509
"""

import torch

a = torch.zeros(4).unsqueeze(0).expand(4, -1)
v = torch.tensor([5.0, 6.0])
a[0:2, 0] = v  # raises overlap
a[0, 0:2] = v
shown = a.clone()
