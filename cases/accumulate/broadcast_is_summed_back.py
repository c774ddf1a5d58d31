"""A gradient of the broadcast shape is summed back to the shape of each operand.

topic: accumulate
features: accumulate, broadcast, sum-to-size
rule: https://docs.pytorch.org/docs/stable/notes/broadcasting.html
"""

import torch

row = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
column = torch.tensor([[10.0], [20.0]], requires_grad=True)
scalar = torch.tensor(2.0, requires_grad=True)
table = row * column + scalar
table.sum().backward()
