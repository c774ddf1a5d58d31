"""backward may be called under no_grad: the mode of the run comes from create_graph alone.

topic: modes
features: no-grad, backward, create-graph
rule: torch.Tensor.backward
"""

import torch

x = torch.tensor([3.0], requires_grad=True)
y = x**2
with torch.no_grad():
    g = torch.autograd.grad(y, x, create_graph=True)[0]
    y.backward(retain_graph=True)
second = torch.autograd.grad(g, x)[0]
