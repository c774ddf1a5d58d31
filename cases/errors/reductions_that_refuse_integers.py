"""Reductions and activations that need fractions refuse integers; sum, prod, sqrt and division take them.

topic: errors
features: dtype, mean, softmax, error
rule: torch.mean
"""

import torch

k = torch.tensor([1, 2, 3])
k.mean()  # raises dtype
k.std()  # raises dtype
torch.softmax(k, 0)  # raises dtype
torch.nn.functional.gelu(k)  # raises dtype
total = k.sum()
product = k.prod()
root = k.sqrt()
ratio = k / 2
