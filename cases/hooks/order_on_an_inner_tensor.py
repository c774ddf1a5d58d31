"""On an inner tensor: tensor hooks first, then the retained grad is written, then node prehooks, the
formula, node posthooks.

topic: hooks
features: hooks, retain-grad, node-prehook, node-hook
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#backward-hooks-execution
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
c = b * 3.0
h1 = b.grad_fn.register_hook(lambda gi, go: print("posthook", gi, go))
h2 = b.grad_fn.register_prehook(lambda gs: print("prehook, retained", b.grad))
b.retain_grad()
h3 = b.register_hook(lambda g: print("tensor hook, retained", b.grad))
c.backward()
