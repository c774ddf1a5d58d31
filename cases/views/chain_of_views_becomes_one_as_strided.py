"""After a write, a view made in several steps gets a single AsStridedBackward0 node on the base.

topic: views
features: view, inplace, as-strided
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.arange(12.0, requires_grad=True)
base = x * 1.0
view = base.view(3, 4)[1:].t()[2]
chain = type(view.grad_fn).__name__
view.add_(100.0)
node = view.grad_fn
parent = type(node.next_functions[0][0]).__name__
(base * base).sum().backward()
