"""Functions written to be stable stay finite for large inputs, and their gradients saturate to 0 or 1.

topic: numerics
features: softplus, sigmoid, logsumexp, tanh, overflow
rule: torch.nn.functional.softplus, torch.logsumexp
"""

import torch
import torch.nn.functional as F

x = torch.tensor([-1000.0, -30.0, 30.0, 1000.0], requires_grad=True)
of_softplus = torch.autograd.grad(F.softplus(x).sum(), x)[0]
of_sigmoid = torch.autograd.grad(torch.sigmoid(x).sum(), x)[0]
of_tanh = torch.autograd.grad(torch.tanh(x).sum(), x)[0]
total = torch.logsumexp(x, 0)
of_logsumexp = torch.autograd.grad(total, x)[0]
of_naive = torch.autograd.grad(torch.log(torch.exp(x).sum()), x)[0]
