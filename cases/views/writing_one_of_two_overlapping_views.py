"""Two views overlap in one element; a write to the first is part of the second's history.

topic: views
features: view, inplace, copy-slices
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = x.clone()
left = base[:2]
right = base[1:]
left.mul_(5.0)
right.sum().backward()
