"""autograd.grad leaves the grad field alone: what an earlier backward stored is still there.

topic: accumulate
features: grad, create-graph, accumulate
rule: torch.autograd.grad
source: R087, Oneflow-Inc/oneflow#9390
"""

import torch

a = torch.ones(2, requires_grad=True)
(a**2).sum().backward()
held = a.grad
g = torch.autograd.grad((a**2).sum(), a, create_graph=True)[0]
same = a.grad is held
attached = g.requires_grad
