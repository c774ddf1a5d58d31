"""Of the nodes that are ready the one made last runs first, whatever order the results were added in.

topic: engine
features: engine, sequence-number, hooks
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
c = a * 3.0
b = a * 2.0
d = c + b
h = [
    a.register_hook(lambda g: print("a", g)),
    b.register_hook(lambda g: print("b", g)),
    c.register_hook(lambda g: print("c", g)),
    d.register_hook(lambda g: print("d", g)),
]
d.backward()
