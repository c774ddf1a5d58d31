"""Eigenvalues and vectors of a rotation, and of a Hermitian matrix, have tangents, although a loss that depends
on their phase has no gradient.

topic: forward-mode
features: dual-tensor, eig, eigh, complex
rule: torch.linalg.eig
"""

import torch

fw = torch.autograd.forward_ad
turn = torch.tensor([[0.0, 1.0], [-1.0, 0.5]], dtype=torch.float64)
change = torch.tensor([[1.0, 2.0], [-1.0, 0.5]], dtype=torch.float64)
with fw.dual_level():
    values, vectors = torch.linalg.eig(fw.make_dual(turn, change))
    of_values, of_vectors = (fw.unpack_dual(t).tangent for t in (values, vectors))
    hermitian = torch.complex(turn + turn.mT, turn - turn.mT)
    step = torch.complex(change + change.mT, change - change.mT)
    of_hermitian = fw.unpack_dual(torch.linalg.eigh(fw.make_dual(hermitian, step))[0]).tangent
forward = torch.func.jacfwd(lambda m: torch.linalg.eigvals(m).abs().sum())(turn)
reverse = torch.func.jacrev(lambda m: torch.linalg.eigvals(m).abs().sum())(turn)
