"""Complex singular vectors are determined up to a common phase: a loss that depends on it is refused.

topic: complex
features: svd, complex, error
rule: torch.linalg.svd
"""

import torch

a = torch.tensor([[2.0, 1j], [1.0 - 1j, 3.0]], dtype=torch.complex128, requires_grad=True)
left, values, right = torch.linalg.svd(a)
left.real.sum().backward(retain_graph=True)  # raises RuntimeError
rank_one = left[:, :1] @ right[:1]
(rank_one.real.sum() * values[0]).backward()
