"""gradcheck runs each backward twice and refuses one that drifts, unless nondet_tol allows it.

topic: functional
features: gradcheck, custom-function
rule: torch.autograd.gradcheck.gradcheck
source: transforms E2
"""

import torch

calls = [0]


class Drifting(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2

    @staticmethod
    def backward(ctx, grad):
        calls[0] += 1
        return grad * (2 + calls[0] * 1e-6)


x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
a = torch.autograd.gradcheck(Drifting.apply, x)  # raises GradcheckError
print(calls)
b = torch.autograd.gradcheck(Drifting.apply, x, nondet_tol=1e-3)
print(calls)
