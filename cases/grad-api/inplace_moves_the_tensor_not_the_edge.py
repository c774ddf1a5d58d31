"""After an in-place step a tensor names its new value, and a gradient edge taken before still names the old
one.

topic: grad-api
features: grad, inplace, gradient-edge, view
rule: torch.autograd.graph.get_gradient_edge
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x * 2.0
old = torch.autograd.graph.get_gradient_edge(y)
y.mul_(5.0)
z = y * 3.0
of_new, of_old = torch.autograd.grad(z, [y, old])
