"""The four products give the output and the product; the vector may be left out for a single element.

topic: functional
features: functional, vjp, jvp, hvp, vhp
rule: torch.autograd.functional.vjp, torch.autograd.functional.jvp, torch.autograd.functional.vhp, torch.autograd.functional.hvp
source: transforms D2
"""

import torch

x = torch.tensor([1.0, 2.0])
v = torch.tensor([1.0, 10.0])
a = torch.autograd.functional.vjp(lambda t: t**2, x, v)
b = torch.autograd.functional.jvp(lambda t: t**2, x, v)
c = torch.autograd.functional.vhp(lambda t: (t**3).sum(), x, v)
d = torch.autograd.functional.hvp(lambda t: (t**3).sum(), x, v)
e = torch.autograd.functional.vjp(lambda t: t.sum(), x)
f = torch.autograd.functional.vjp(lambda t: t**2, x)  # raises RuntimeError
g = torch.autograd.functional.jvp(lambda t: t**2, x)  # raises RuntimeError
h = torch.autograd.functional.jvp(lambda t: t**2, x, (v, v))  # raises RuntimeError
i = torch.autograd.functional.vhp(lambda t: (t**3).sum(), x, v[:1])  # raises gradient-mismatch
