"""Shapes that do not broadcast are refused before element types that the op does not know, and comparisons with
a tolerance refuse them too.

topic: errors
features: broadcasting, allclose, bitwise, error
rule: https://docs.pytorch.org/docs/stable/notes/broadcasting.html
"""

import torch

a, b = torch.ones(2, 2), torch.ones(3)
torch.allclose(a, b)  # raises shape
torch.isclose(a, b)  # raises shape
torch.bitwise_and(a, b)  # raises shape
torch.gcd(a, b)  # raises shape
torch.bitwise_and(a, a)  # raises NotImplementedError
torch.gcd(a, a)  # raises NotImplementedError
same = torch.allclose(a, torch.ones(2, 1))
