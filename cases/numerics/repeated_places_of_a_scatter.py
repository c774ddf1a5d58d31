"""Places written twice by scatter_add sum their sources; index_put with accumulate does the same, and sends
gradients to all.

topic: numerics
features: scatter, scatter-add, index-put, repeated-index
rule: torch.Tensor.scatter_
"""

import torch

source = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = torch.zeros(2)
index = torch.tensor([0, 1, 0])
added = base.scatter_add(0, index, source)
(added * torch.tensor([10.0, 100.0])).sum().backward()
put = base.index_put((index,), source, accumulate=True)
put.sum().backward()
