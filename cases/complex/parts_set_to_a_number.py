"""The real or imaginary part may be set to a number; through a conjugate view even zero gets its sign.

topic: complex
features: complex, view, in-place, signed-zero
rule: torch.Tensor.real, torch.Tensor.imag
"""

import torch

z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
w = z.clone()
w.real = 5
w.imag = torch.tensor([7.0, 8.0])
w.abs().sum().backward()
c = torch.tensor([1 + 2j, 3 + 4j])
c.conj()[0] = 0
c.conj().imag[1] = 0
c.conj().view(torch.float32)  # raises RuntimeError
c.real = "a"  # raises TypeError
