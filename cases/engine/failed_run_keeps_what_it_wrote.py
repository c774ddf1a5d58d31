"""When a hook raises in mid-run nothing is rolled back: the leaf that was done keeps its grad, the other has
none.

topic: engine
features: engine, hooks, error, accumulate
rule: torch.autograd.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = torch.tensor([2.0], requires_grad=True)
u = a * 2.0
v = b * 3.0
h = u.register_hook(lambda g: 1 / 0)
(u + v).backward()  # raises ZeroDivisionError
