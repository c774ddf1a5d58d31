"""real and imag of a complex tensor are views into it: a write to one is a write to the whole.

topic: complex
features: complex, real, imag, view, version-counter
rule: torch.real
"""

import torch

z = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True)
w = z * 1.0
w.imag.zero_()
version = w._version
(w.real * torch.tensor([1.0, 10.0])).sum().backward()
