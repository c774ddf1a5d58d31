"""Two spellings of relu: at zero maximum has slope one half and where has slope zero, and the smallest
denormals are no ties.

topic: numerics
features: maximum, where, ties, denormal, subgradient
rule: torch.maximum
source: R120, jax-ml/jax#37821
"""

import torch

x = torch.tensor([0.0, 1e-45, -1e-45], requires_grad=True)
of_maximum = torch.autograd.grad(torch.maximum(x, torch.zeros(3)).sum(), x)[0]
of_where = torch.autograd.grad(torch.where(x > 0, x, torch.zeros(3)).sum(), x)[0]
