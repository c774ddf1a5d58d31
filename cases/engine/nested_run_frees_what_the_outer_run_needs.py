"""A nested backward without retain_graph frees nodes that the outer run has still to visit.

topic: engine
features: engine, reentrant, freed-graph, hooks
rule: torch.autograd.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a.exp()
c = b * 2.0
h = c.register_hook(lambda g: b.backward())
c.backward()  # raises freed-graph
