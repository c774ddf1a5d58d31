"""A leaf accumulates as soon as its last gradient has arrived, before any other node that is ready.

topic: engine
features: engine, accumulate-grad, hooks
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = torch.tensor([1.0], requires_grad=True)
c = b * 2.0
d = a * c
ha = a.register_hook(lambda g: print("leaf a"))
hb = b.register_hook(lambda g: print("leaf b"))
hc = c.register_hook(lambda g: print("c"))
d.backward()
