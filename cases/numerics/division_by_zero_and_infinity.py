"""Dividing one by zero sends infinity with the sign of the zero to the dividend and minus infinity to the
divisor; dividing by infinity sends zeros.

topic: numerics
features: div, infinity, nan, signed-zero
rule: torch.div
"""

import torch

x = torch.tensor([1.0, 1.0, 1.0, 0.0], requires_grad=True)
d = torch.tensor([0.0, -0.0, float("inf"), 0.0], requires_grad=True)
q = x / d
q.sum().backward()
