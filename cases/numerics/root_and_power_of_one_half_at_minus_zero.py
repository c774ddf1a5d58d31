"""The power with a tensor 0.5 is a power, with the number 0.5 a root: they differ at -0 and at minus infinity.

topic: numerics
features: pow, signed-zero, infinity
rule: torch.pow
"""

import torch

x = torch.tensor([-0.0, float("-inf"), 4.0])
root = x**0.5
power = x ** torch.tensor(0.5)
each = x ** torch.tensor([0.5, 0.5, 0.5])
one = x ** torch.tensor([0.5])
