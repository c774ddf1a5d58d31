"""An output asked for as its own input gives back the root gradient, after its hooks.

topic: grad-api
features: grad, capture, hooks
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
h = y.register_hook(lambda g: g * 10.0)
given = torch.tensor([3.0, 4.0])
g = torch.autograd.grad(y, y, given)
of_leaf = torch.autograd.grad(x, x, given)
returned_as_is = of_leaf[0] is given
