"""index_add refuses a source of the wrong shape in the forward; an expanded source works and is summed back.

topic: errors
features: index-add, shape, error
rule: torch.Tensor.index_add_
source: R106, pytorch/pytorch#71155
"""

import torch

m = torch.zeros(4, 4, requires_grad=True)
i = torch.tensor([0, 1, 2, 3])
v = torch.tensor([6.0, 7.0, 8.0, 9.0], requires_grad=True)
bad = m.index_add(0, i, v)  # raises shape
good = m.index_add(0, i, v.expand(4, 4))
good.sum().backward()
