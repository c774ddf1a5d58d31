"""A real leaf inside a complex computation gets the real part of the gradient, as float32.

topic: complex
features: complex, promotion, gradient-argument
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
source: R145, pytorch/pytorch#104514
"""

import torch

w = torch.tensor(2.0, requires_grad=True)
y = w * (1.0 + 3.0j)
y.backward()  # raises not-scalar
y = w * (1.0 + 3.0j)
y.backward(torch.tensor(1.0 + 1.0j))
kind = w.grad.dtype
