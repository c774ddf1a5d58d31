"""A real transform keeps one side; its inverse ignores what cannot be there, and counts the other side twice.

topic: complex
features: fft, real-gradient, create-graph
rule: torch.fft.rfft
"""

import torch

x = torch.tensor([1.0, 2.0, 4.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
side = torch.fft.rfft(x)
energy = side.abs().pow(2).sum()
slope = torch.autograd.grad(energy, x, create_graph=True)[0]
curvature = torch.autograd.grad(slope.sum(), x, retain_graph=True)[0]
z = torch.tensor([1.0 + 2j, 3j, 2.0 - 1j], dtype=torch.complex128, requires_grad=True)
back = torch.fft.irfft(z)
back.pow(2).sum().backward()
print(z.grad, torch.fft.fft(torch.ones(3, 4), dim=0).stride())
