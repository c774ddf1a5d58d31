"""Of a tangent that is not symmetric, the tangent of a Cholesky factor sees the lower triangle alone.

topic: forward-mode
features: dual-tensor, cholesky
rule: torch.linalg.cholesky
"""

import torch

fw = torch.autograd.forward_ad
matrix = torch.tensor([[4.0, 2.0], [2.0, 3.0]], dtype=torch.float64)
lower = torch.tensor([[1.0, 0.0], [5.0, 2.0]], dtype=torch.float64)
with fw.dual_level():
    factor = torch.linalg.cholesky(fw.make_dual(matrix, lower))
    tangent = fw.unpack_dual(factor).tangent
    upper = fw.unpack_dual(torch.linalg.cholesky(fw.make_dual(matrix, lower), upper=True)).tangent
    blind = fw.unpack_dual(torch.linalg.cholesky(fw.make_dual(matrix, lower.mT.clone()))).tangent
