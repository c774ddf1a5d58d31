"""A node posthook returns None or one entry per input; it may turn a gradient into None, but never None into
a gradient.

topic: hooks
features: hooks, node-hook, hook-result, error
rule: torch.autograd.graph.Node.register_hook
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * torch.ones(2)
h = b.grad_fn.register_hook(lambda gi, go: (gi[0],))
b.sum().backward(retain_graph=True)  # raises hook-result
h.remove()
h = b.grad_fn.register_hook(lambda gi, go: (gi[0], torch.ones(2)))
b.sum().backward(retain_graph=True)  # raises hook-result
h.remove()
h = b.grad_fn.register_hook(lambda gi, go: (None, None))
b.sum().backward(retain_graph=True)
h.remove()
h = b.grad_fn.register_hook(lambda gi, go: (gi[0] * 5.0, None))
b.sum().backward()
