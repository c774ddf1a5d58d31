"""jvp of grad gives plain tensors, also through layers whose backward has formulas of its own.

topic: func
features: func, jvp, grad, pooling, graph
rule: torch.func.jvp
"""

import torch

weight = torch.tensor([[[1.0, -2.0, 0.5, 3.0]]])
x = torch.tensor(0.5)
one = torch.ones(())
pooled = lambda t: (torch.nn.functional.avg_pool1d(t * weight, 2) ** 2).sum()
padded = lambda t: (torch.nn.functional.pad(t * weight, (1, 1), mode="reflect") ** 2).sum()
power = lambda t: torch.matrix_exp(t * weight[0, :, :2].T @ weight[0, :, 2:]).sum()
first = torch.func.jvp(torch.func.grad(pooled), (x,), (one,))
second = torch.func.jvp(torch.func.grad(padded), (x,), (one,))
third = torch.func.jvp(torch.func.grad(power), (x,), (one,))
attached = [tangent.requires_grad for _, tangent in (first, second, third)]
