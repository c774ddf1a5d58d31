"""Complex gradients that meet are added times one, which turns a sum of negative zeros positive.

topic: complex
features: signed-zero, accumulation, conj, imag
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
"""

import torch

x = torch.tensor([-0.5j], dtype=torch.complex128, requires_grad=True)
y = x.conj().imag + x * x
y.backward(torch.ones_like(y))
print(x.grad, x.grad.real.signbit())
x.grad = torch.tensor([complex(-0.0, 1.0)], dtype=torch.complex128)
(x * torch.tensor([complex(-0.0, 0.0)], dtype=torch.complex128)).real.backward(torch.ones(1, dtype=torch.float64))
print(x.grad, x.grad.real.signbit())
