"""An element read several times collects the gradient of every reading.

topic: numerics
features: index-select, gather, indexing, repeated-index
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
read = x[[0, 0, 2, 0]]
(read * torch.tensor([1.0, 10.0, 100.0, 1000.0])).sum().backward()
of_index = x.grad.clone()
x.grad = None
x.gather(0, torch.tensor([1, 1])).sum().backward()
of_gather = x.grad.clone()
x.grad = None
x.index_select(0, torch.tensor([2, 2, 2])).sum().backward()
