"""A tensor hook may return a tensor of the same shape and dtype, or None; a number, another shape or dtype
is refused.

topic: hooks
features: hooks, hook-result, error
rule: torch.Tensor.register_hook
source: R063, pytorch/pytorch#290
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
h = y.register_hook(lambda g: 5.0)
y.sum().backward()  # raises hook-result
h.remove()
h = y.register_hook(lambda g: torch.ones(3))
y.sum().backward()  # raises hook-result
h.remove()
h = y.register_hook(lambda g: g.double())
y.sum().backward()  # raises hook-result
h.remove()
h = y.register_hook(lambda g: g * 3.0)
y.sum().backward()
