"""A gradient that was added to another one is held until the node has handed on all, so nothing is added into it.

topic: accumulate
features: backward with several roots, version of grad
rule: torch.autograd.backward
source: found by refgrad fuzz
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 4.0], requires_grad=True)
d = (a - b) + b
torch.autograd.backward([d, d, a], [torch.ones(2), torch.ones(2), torch.ones(2)])
c = torch.tensor([3.0, 4.0], requires_grad=True)
e = (a - c) + c
torch.autograd.backward([e, c], [torch.ones(2), torch.ones(2)])
