"""asarray with requires_grad=False switches the leaf itself off; of a result it makes a detached tensor.

topic: leaf
features: asarray, requires-grad, detach
rule: torch.asarray
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
z = torch.asarray(y, requires_grad=False)
apart = z is not y and y.requires_grad
same = torch.asarray(x, requires_grad=False)
switched = same is x and not x.requires_grad
y.sum().backward()
torch.asarray(x, requires_grad=True)
whole = torch.asarray(torch.tensor([1, 2]), requires_grad=True)  # raises RuntimeError
