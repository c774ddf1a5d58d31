"""After an operation that failed, the operands are as they were and the graph goes on.

topic: errors
features: error, shape, accumulate
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
z = y + torch.ones(3)  # raises shape
z = y @ torch.ones(3)  # raises shape
z = y.sum() + x.prod()
z.backward()
