"""The gradient of a determinant at a singular matrix is zero, but with create_graph it is the adjugate.

topic: numerics
features: det, singular, create-graph
rule: torch.linalg.det
"""

import torch

a = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
d = torch.linalg.det(a)
plain = torch.autograd.grad(d, a, retain_graph=True)[0]
recorded = torch.autograd.grad(d, a, create_graph=True)[0]
second = torch.autograd.grad(recorded.sum(), a)[0]
regular = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
torch.linalg.det(regular).backward()
