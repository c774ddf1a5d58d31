"""A root that also lies below another root waits for it, and gets the sum of both gradients.

topic: engine
features: engine, backward, several-roots, hooks
rule: torch.autograd.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
c = b * 3.0
ha = a.register_hook(lambda g: print("a", g))
hb = b.register_hook(lambda g: print("b", g))
hc = c.register_hook(lambda g: print("c", g))
torch.autograd.backward([b, c])
