"""The logarithm in the gradient of a power is complex where the power is: a negative number has one.

topic: numerics
features: complex, pow, scalar
rule: torch.pow
"""
import torch

exponent = torch.tensor([0.5 + 1j, 2.0 - 1j], requires_grad=True)
for base in (-2, -1.0, 2j, torch.tensor(-2.0)):
    power = torch.pow(base, exponent)
    print(torch.autograd.grad(torch.view_as_real(power).sum(), exponent))

real = torch.tensor([0.5, 2.0], requires_grad=True)
print(torch.autograd.grad(torch.pow(-2, real).sum(), real))
