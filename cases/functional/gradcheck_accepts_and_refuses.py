"""gradcheck compares with central differences: it passes, returns False, or raises with both Jacobians.

topic: functional
features: gradcheck, custom-function
rule: torch.autograd.gradcheck.gradcheck
source: transforms E1, E2
"""

import torch

x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


a = torch.autograd.gradcheck(lambda t: t**2, x)
b = torch.autograd.gradcheck(Wrong.apply, x, raise_exception=False)
c = torch.autograd.gradcheck(Wrong.apply, x)  # raises GradcheckError
d = torch.autograd.gradcheck(Wrong.apply, x, fast_mode=True)  # raises GradcheckError
e = torch.autograd.gradcheck(lambda t: t**2, x.detach())  # raises ValueError
f = torch.autograd.gradcheck(lambda t: t**2, x[:1].expand(3))  # raises overlap
g = torch.autograd.gradcheck(lambda t: t**2, x.float().detach().requires_grad_())  # raises GradcheckError
