"""When every entry is minus infinity, the gradients of logsumexp, logaddexp and softmax are NaN;
logsigmoid's is one.

topic: numerics
features: logsumexp, logaddexp, softmax, logsigmoid, infinity, nan
rule: torch.logsumexp
source: R131, pytorch/pytorch#31829
"""

import torch
import torch.nn.functional as F

x = torch.full((2,), float("-inf")).requires_grad_()
of_logsumexp = torch.autograd.grad(torch.logsumexp(x, 0), x)[0]
of_logaddexp = torch.autograd.grad(torch.logaddexp(x[0], x[1]), x)[0]
of_softmax = torch.autograd.grad(torch.softmax(x, 0).sum(), x)[0]
of_logsigmoid = torch.autograd.grad(F.logsigmoid(x).sum(), x)[0]
