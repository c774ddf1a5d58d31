"""The norm of a complex row is real, and so is what flows back through it.

topic: complex
features: complex, renorm
rule: torch.renorm
"""

import torch

z = torch.tensor([[3.0j, 4.0], [0.25, 0.25j]], requires_grad=True)
bounded = torch.renorm(z, 2, 0, 1.0)
(grad,) = torch.autograd.grad(bounded, z, torch.tensor([[1.0, 1.0j], [1.0, 1.0]]))
(sizes,) = torch.autograd.grad(torch.renorm(z, 1, 0, 2.0).abs().sum(), z)
