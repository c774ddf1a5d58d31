"""x - x.mean() sends back zeros for a gradient of ones: the broadcast mean takes away what the identity
gives.

topic: numerics
features: mean, broadcast, gradient-argument
rule: https://docs.pytorch.org/docs/stable/notes/broadcasting.html
source: R107, pytorch/pytorch#107007
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
y = x - x.mean()
y.backward(torch.ones(4), retain_graph=True)
first = torch.autograd.grad(y[0], x)[0]
