"""Powers at zero: exponent 0 has slope 0, 1 slope 1, one half infinite slope; a base of zero gives the
exponent slope 0.

topic: numerics
features: pow, subgradient, infinity, nan
rule: torch.pow
"""

import torch

x = torch.tensor([0.0], requires_grad=True)
exponents = [0, 1, 2, 0.5, -1]
slopes = [torch.autograd.grad(x**n, x)[0] for n in exponents]
n = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
of_exponent = torch.autograd.grad((x.detach() ** n).sum(), n)[0]
negative = torch.autograd.grad((torch.tensor([-2.0]) ** n).sum(), n)[0]
