"""Each part of a split gets a gradient of its own size, whatever the size of the first.

topic: views
features: split, gradients, multi-output
rule: torch.split
"""

import torch

x = torch.ones(6, requires_grad=True)
a, b, c = x.split([1, 2, 3])
(b * torch.tensor([3.0, 4.0])).sum().backward(retain_graph=True)
(c.exp() * torch.ones(2, 1)).sum().backward(retain_graph=True)
(a * torch.arange(4.0)).sum().backward()
print(x.grad)
