"""Each hook gets what the one before it returned, and so do the retained grad, the prehook and the formula.

topic: hooks
features: hooks, hook-replacement, node-hook, retain-grad
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
b.retain_grad()
h1 = b.register_hook(lambda g: g + 1.0)
h2 = b.register_hook(lambda g: g * 10.0)
h3 = b.grad_fn.register_prehook(lambda gs: (gs[0] + 5.0,))
h4 = b.grad_fn.register_hook(lambda gi, go: (gi[0] * 100.0, None))
b.backward()
