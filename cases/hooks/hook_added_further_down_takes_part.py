"""A hook that a hook adds to a tensor further down runs in the same backward; one it adds to its own tensor
waits.

topic: hooks
features: hooks, node-hook
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a + 1.0
c = b + 2.0


def add_hooks(g):
    print("adding")
    b.register_hook(lambda g: print("on b"))
    c.register_hook(lambda g: print("on c"))


h = c.register_hook(add_hooks)
c.backward()
h.remove()
c.backward()
