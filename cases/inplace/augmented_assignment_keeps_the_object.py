"""y += w changes the object that other names see; y = y + w makes a new one.

topic: inplace
features: inplace, inplace-operators, identity
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x * 2.0
other = y
y += 1.0
same = other is y
y = y + 1.0
apart = other is not y
(y + other).backward()
