"""var and std of a single element have a NaN gradient of the input's shape, and no error is raised.

topic: numerics
features: var, std, nan, warning
rule: torch.var
source: R129, pytorch/pytorch#94184
"""

import torch

x = torch.tensor([[1.0]], requires_grad=True)
of_var = torch.autograd.grad(x.var(), x)[0]
of_biased = torch.autograd.grad(x.var(correction=0), x)[0]
of_std = torch.autograd.grad(x.std(), x)[0]
of_rows = torch.autograd.grad(x.var(dim=1, keepdim=True).sum(), x)[0]
