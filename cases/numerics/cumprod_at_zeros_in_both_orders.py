"""The gradient of cumprod stays right where elements are zero, and is put together in another way when it is
recorded.

topic: numerics
features: cumprod, create-graph, version-counter
rule: torch.cumprod
"""

import torch

x = torch.tensor([[-1.0, 0.0, 2.0], [1.0, 2.0, 0.0]], requires_grad=True)
y = x.cumprod(1)
slope = torch.autograd.grad(y.sum(), x, create_graph=True)[0]
slope.square().sum().backward()
x.grad = None
x.cumprod(1).sum().backward()
print(x.grad._version)
