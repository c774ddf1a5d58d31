"""Singular and indefinite matrices raise LinAlgError, with the place; the `_ex` functions return the place.

topic: errors
features: inverse, cholesky, singular, error
rule: torch.linalg.inv, torch.linalg.cholesky_ex
"""

import torch

a = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]]], requires_grad=True)
torch.linalg.inv(a)  # raises _LinAlgError
torch.linalg.solve(a[1], torch.ones(2))  # raises _LinAlgError
torch.linalg.cholesky(-a)  # raises _LinAlgError
inverse, info = torch.linalg.inv_ex(a)
factor, where = torch.linalg.cholesky_ex(a)
torch.linalg.inv(torch.ones(2, 3))  # raises RuntimeError
inverse[0].sum().backward()
