"""The same root given three times runs once, on the sum taken in list order: the one is lost beside 1e8, or
is not.

topic: engine
features: engine, backward, several-roots, rounding
rule: torch.autograd.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 1.0
big = torch.tensor([1e8])
one = torch.tensor([1.0])
torch.autograd.backward([b, b, b], [big, one, -big], retain_graph=True)
lost = a.grad.clone()
a.grad = None
torch.autograd.backward([b, b, b], [big, -big, one])
