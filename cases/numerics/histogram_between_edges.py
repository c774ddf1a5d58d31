"""histogram counts between edges, the last of which belongs to its bin; its node refuses to run.

topic: numerics
features: histogram, no-derivative
rule: torch.histogram
"""

import torch

x = torch.tensor([0.0, 0.5, 1.0, 2.0, 3.0, -1.0])
print(torch.histogram(x, 4), torch.histogram(x, torch.tensor([0.0, 1.0, 3.0])))
print(torch.histogram(x, 2, range=(0.0, 2.0), weight=torch.arange(6.0), density=True))
counts, edges = torch.histogram(x.requires_grad_(), 2)
print(counts.grad_fn.name())
counts.sum().backward()  # raises RuntimeError
torch.histogram(x.detach(), torch.eye(2))  # raises RuntimeError
torch.histogram(x.detach(), 2, range=(3.0, 1.0))  # raises RuntimeError
piece = x.detach().narrow_copy(0, 1, 3)
