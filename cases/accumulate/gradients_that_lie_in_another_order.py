"""Gradients whose dimensions lie in another order are added in place too, as long as they have no gaps.

topic: accumulate
features: permute, strides, version, in-place accumulation
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

import torch

x = torch.ones(2, 3, 4, requires_grad=True)
y = x * 1.0
seen = []
y.register_hook(lambda g: seen.append((g._version, g.stride())))
p = y.permute(1, 2, 0)
a, b, c = p.exp(), p.sin(), p * 2.0
(a + b + c).sum().backward()
print(seen, x.grad.stride())
y = x * 1.0
y.register_hook(lambda g: seen.append((g._version, g.stride())))
parts = [y[:, ::2].exp().sum(), y[:, ::2].sin().sum(), y[:, ::2].sum()]
(parts[0] + parts[1] + parts[2]).backward()
print(seen)
