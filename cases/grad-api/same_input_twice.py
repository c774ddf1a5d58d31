"""The same input asked for twice gives one gradient object twice; in backward it accumulates once.

topic: grad-api
features: grad, identity, inputs
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x * 2.0
g = torch.autograd.grad(y * 3.0, [x, y, x], retain_graph=True)
same = g[0] is g[2]
y.backward(inputs=[x, x])
