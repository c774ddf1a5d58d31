"""The gradient of a complex softsign predicts the change of a real loss along a direction, as a central
difference does.

topic: complex
features: complex, abs, div, complex128
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
source: R147, pytorch/pytorch#80926
"""

import torch

z = torch.tensor(0.5 - 0.25j, dtype=torch.complex128, requires_grad=True)
loss = (z / (z.abs() + 1.0)).real
loss.backward()
step = torch.tensor(1e-6j, dtype=torch.complex128)
after = z.detach() + step
before = z.detach() - step
numeric = ((after / (after.abs() + 1.0)).real - (before / (before.abs() + 1.0)).real) / 2e-6
