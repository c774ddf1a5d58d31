"""Every spelling of the Frobenius norm has gradient zero at the zero matrix, not NaN.

topic: numerics
features: norm, matrix-norm, cdist, subgradient
rule: torch.linalg.norm
source: R127, pytorch/pytorch#65599
"""

import torch

a = torch.zeros(2, 2, requires_grad=True)
of_matrix_norm = torch.autograd.grad(torch.linalg.matrix_norm(a), a)[0]
of_fro = torch.autograd.grad(torch.linalg.norm(a, "fro"), a)[0]
of_norm = torch.autograd.grad(torch.linalg.norm(a), a)[0]
of_cdist = torch.autograd.grad(torch.cdist(a[:1], a[1:]).sum(), a)[0]
