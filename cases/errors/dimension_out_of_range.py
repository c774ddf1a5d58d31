"""A dimension outside the tensor is an IndexError that names the range.

topic: errors
features: index, dimension, error
rule: torch.sum, torch.transpose
"""

import torch

x = torch.ones(2, 3, requires_grad=True)
x.sum(2)  # raises index
x.transpose(0, -3)  # raises index
x.unsqueeze(4)  # raises index
x.select(1, 3)  # raises index
torch.softmax(x, dim=5)  # raises index
x.sum((0, 0))  # raises index
x.sum(-1).sum().backward()
