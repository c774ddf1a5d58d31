"""grad up to an inner tensor does not free that tensor's own node, so backward can go on from there.

topic: backward-twice
features: grad, freed-graph
rule: torch.autograd.grad
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a.exp()
c = b.exp()
g = torch.autograd.grad(c, b)[0]
b.backward(g)
b.backward(g)  # raises freed-graph
