"""In place only the other operand is broadcast; an operation that would grow the tensor is refused.

topic: inplace
features: inplace, broadcast, shape, error
rule: https://docs.pytorch.org/docs/stable/notes/broadcasting.html#in-place-semantics
"""

import torch

t = torch.zeros(3, 1)
t.add_(torch.ones(1))
t.add_(torch.ones(3, 4))  # raises shape
t += torch.ones(2, 1)  # raises shape
version = t._version
