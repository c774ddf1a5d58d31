"""abs of a complex number has the unit number as gradient, and zero at the origin.

topic: complex
features: complex, abs, angle, subgradient
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
"""

import torch

z = torch.tensor([3.0 + 4.0j, 0.0 + 0.0j, -2.0 + 0.0j], requires_grad=True)
z.abs().sum().backward()
squared = torch.autograd.grad((z * z.conj()).real.sum(), z)[0]
