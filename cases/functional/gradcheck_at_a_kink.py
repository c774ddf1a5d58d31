"""At a kink the central difference is the mean of both slopes: abs passes with slope 0, relu does not.

topic: functional
features: gradcheck, kink
rule: torch.autograd.gradcheck.gradcheck
source: transforms E2
"""

import torch

x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
a = torch.autograd.gradcheck(torch.abs, x)
b = torch.autograd.gradcheck(torch.relu, x, raise_exception=False)
c = torch.autograd.gradcheck(torch.relu, x)  # raises GradcheckError
