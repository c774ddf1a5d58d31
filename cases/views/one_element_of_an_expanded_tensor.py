"""One element of an expanded tensor sends back a gradient of one; the sum of all sends the number of copies.

topic: views
features: expand, select, broadcast
rule: torch.Tensor.expand
source: R100, pytorch/pytorch#9145
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x.expand(4)
one = torch.autograd.grad(y[0], x, retain_graph=True)[0]
total = torch.autograd.grad(y.sum(), x)[0]
