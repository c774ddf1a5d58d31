"""The second derivative of gelu lies in memory as the gradient that comes in, so that .grad may take it over.

topic: numerics
features: double backward, gelu, strides, accumulate
rule: torch.nn.functional.gelu
source: found by refgrad fuzz
"""

import torch
import torch.nn.functional as F

a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
b = F.gelu(a.t())
first = torch.autograd.grad(b, a, torch.ones(3, 2), create_graph=True)[0]
first.backward(torch.tensor([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]]))
c = F.gelu(a, approximate="tanh")
slope = torch.autograd.grad(c.sum(), a, create_graph=True)[0]
bend = torch.autograd.grad(slope.sum(), a, create_graph=True)[0]
