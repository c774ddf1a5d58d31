"""max(), min() and median() over all elements share the gradient evenly among the elements that tie.

topic: numerics
features: max, min, median, ties, subgradient
rule: torch.max
source: R114, pytorch/pytorch#43519
"""

import torch

x = torch.tensor([2.0, 5.0, 5.0, 2.0, 5.0], requires_grad=True)
of_max = torch.autograd.grad(x.max(), x)[0]
of_min = torch.autograd.grad(x.min(), x)[0]
of_median = torch.autograd.grad(x.median(), x)[0]
of_nanmedian = torch.autograd.grad(x.nanmedian(), x)[0]
