"""A solution's node keeps the factors of the matrix; the determinant factors a row-major matrix transposed.

topic: saved
features: solve, det, saved-tensor, strides
rule: torch.linalg.solve
"""

import torch

a = torch.tensor([[1.0, 2.0], [4.0, 3.0]], dtype=torch.float64, requires_grad=True)
b = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
x = torch.linalg.solve(a, b)
print(x.grad_fn._saved_LU, x.grad_fn._saved_pivots)
d = torch.linalg.det(a)
print(d.grad_fn._saved_LU, torch.linalg.det(a.mT).grad_fn._saved_LU)
inverse = torch.linalg.inv(a)
print(inverse.stride(), inverse.grad_fn._saved_inverse.stride())
(x.sum() + d + inverse[0, 0]).backward()
