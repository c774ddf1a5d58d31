"""Holomorphic functions multiply the incoming gradient by the conjugate of their derivative.

topic: complex
features: complex, exp, log, div, complex128
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
"""

import torch

z = torch.tensor([1.0 + 2.0j, 0.5 - 0.25j], dtype=torch.complex128, requires_grad=True)
w = torch.tensor([2.0 - 1.0j, 1.0j], dtype=torch.complex128, requires_grad=True)
loss = (z.exp() / w + w.log()).abs().sum()
loss.backward()
