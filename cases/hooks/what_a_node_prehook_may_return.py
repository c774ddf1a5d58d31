"""A node prehook returns None or a tuple with one gradient per output; a tensor, an empty tuple or another
shape is refused.

topic: hooks
features: hooks, node-prehook, hook-result, error
rule: torch.autograd.graph.Node.register_prehook
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a + 0.0
h = b.grad_fn.register_prehook(lambda gs: gs[0])
b.sum().backward()  # raises hook-result
h.remove()
h = b.grad_fn.register_prehook(lambda gs: ())
b.sum().backward()  # raises hook-result
h.remove()
h = b.grad_fn.register_prehook(lambda gs: (torch.ones(3),))
b.sum().backward()  # raises hook-result
h.remove()
h = b.grad_fn.register_prehook(lambda gs: (None,))
b.sum().backward()
h.remove()
h = b.grad_fn.register_prehook(lambda gs: (gs[0] * 5.0,))
b.sum().backward()
