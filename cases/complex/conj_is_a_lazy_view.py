"""conj returns a view with the conjugate bit set; the values are conjugated when they are used.

topic: complex
features: complex, conj, view
rule: torch.conj
"""

import torch

z = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True)
c = z.conj()
flags = [c.is_conj(), c._is_view(), c.resolve_conj().is_conj()]
(c * torch.tensor([1.0j, 2.0])).real.sum().backward()
real = torch.tensor([1.0, 2.0])
unchanged = real.conj() is real
