"""Once .data has another type the graphs that were made before still bring gradients in the old one.

topic: accumulate
features: accumulate, data, dtype, grad
rule: torch.Tensor.backward
source: probed on torch 2.13.0
"""

import torch

a = torch.ones(2, requires_grad=True)
before = (a * 2.0).sum()
a.data = torch.ones(2, dtype=torch.float64)
before.backward()
a.grad
saved = torch.ones(2, requires_grad=True) * 2.0
square = saved * saved
saved.add_(1.0)
square.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
