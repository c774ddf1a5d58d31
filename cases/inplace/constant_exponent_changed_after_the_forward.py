"""pow saves its exponent, so a change to the constant exponent before backward is an error.

topic: inplace
features: version-counter, pow
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
source: R025, mlverse/torch#634
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
n = torch.tensor([2.0])
b = (x**n).sum()
n.add_(1.0)
b.backward()  # raises version-mismatch
