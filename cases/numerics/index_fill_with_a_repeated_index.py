"""With an index given twice, the gradient of the filled value counts each written place once.

topic: numerics
features: index-fill, repeated-index
rule: torch.Tensor.index_fill_
source: R103, pytorch/pytorch#57006
"""

import torch

t = torch.zeros(3, 2)
v = torch.tensor(5.0, requires_grad=True)
out = t.index_fill(0, torch.tensor([2, 2]), v)
out.sum().backward()
