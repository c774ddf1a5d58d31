"""A backward started inside a hook runs to its end before anything else of the outer run, even what is
ready.

topic: engine
features: engine, reentrant, hooks, enable-grad
rule: torch.autograd.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
z = torch.tensor([5.0], requires_grad=True)
b = a * 2.0
c = a * 3.0


def inner_run(g):
    print("c starts")
    with torch.enable_grad():
        (z * 7.0).backward()
    print("c ends", z.grad)


hc = c.register_hook(inner_run)
hb = b.register_hook(lambda g: print("b"))
hz = z.register_hook(lambda g: print("z"))
(b + c).backward()
