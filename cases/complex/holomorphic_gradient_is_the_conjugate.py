"""A complex scalar needs a gradient argument, and the grad of a holomorphic function is the conjugate of its
derivative.

topic: complex
features: complex, mul, not-scalar, gradient-argument
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
source: R142, pytorch/pytorch#60180
"""

import torch

a = torch.tensor([1.0 + 2.0j], requires_grad=True)
f = a * a
f.backward()  # raises not-scalar
f = (a * a).sum()
f.backward(torch.tensor(1.0 + 0.0j))
half = 0.5 * a.grad
