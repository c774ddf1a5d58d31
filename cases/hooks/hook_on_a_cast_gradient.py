"""A hook sees the gradient in its own tensor's dtype, cast from that of the result.

topic: hooks
features: hooks, dtype, promotion
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 2.0
h = b.register_hook(lambda g: print(g, g.dtype))
total = (b.double() * b).sum()
total.backward()
