"""Hooks on the outputs of one node run tensor by tensor, in the order in which each tensor got its first
hook.

topic: hooks
features: hooks, unbind, retain-grad
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
x, y, z = a.unbind()
h1 = z.register_hook(lambda g: print("z first", g))
h2 = x.register_hook(lambda g: print("x first", g))
h3 = z.register_hook(lambda g: print("z second", g))
h4 = y.register_hook(lambda g: print("y first", g))
(x + 2.0 * y + 3.0 * z).backward()
