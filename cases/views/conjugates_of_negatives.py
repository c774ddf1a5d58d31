"""A view can show negatives and conjugates at once; each bit is put on and taken off alone.

topic: views
features: views, conj, _neg_view, complex
rule: torch.conj
source: probed on torch 2.13.0
"""

import torch
import torch.autograd.forward_ad as fwAD

n = torch.full((2,), 2 + 1j)._neg_view()
c = n.conj()
print(c, c.is_conj(), c.is_neg(), c.conj(), c.conj().is_neg(), c._neg_view(), c._neg_view().is_conj())
print(c.real, c.real.is_neg(), c.imag, c.imag.is_neg(), n.imag, n.real, torch.view_as_real(n))
print(c.resolve_neg(), c.resolve_conj(), c + 1, c[0], c.abs(), c.neg(), c.tolist())
c.add_(1j)
n
c[0] = 5 + 6j
n
with fwAD.dual_level():
    dual = fwAD.make_dual(torch.tensor([2 + 0j]), torch.tensor([3 + 0j]))._neg_view().exp()
    tangent = fwAD.unpack_dual(dual).tangent
tangent
