"""The node whose hook raised is not freed, so backward may be tried again from there, but not from above.

topic: engine
features: engine, hooks, error, freed-graph
rule: torch.autograd.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a.exp()
c = b.exp()
h = b.register_hook(lambda g: 1 / 0)
c.backward()  # raises ZeroDivisionError
h.remove()
c.backward()  # raises freed-graph
b.backward()
