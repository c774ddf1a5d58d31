"""grad for an inner tensor alone returns what its hook left; asked together with the leaf below, it returns
the value before the hook.

topic: hooks
features: hooks, grad, capture
rule: torch.autograd.grad
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
c = b * 3.0
h = b.register_hook(lambda g: g + 100.0)
alone = torch.autograd.grad(c, b, retain_graph=True)
together = torch.autograd.grad(c, [b, a])
