"""The gradient of a product stays right with one zero and with two, without dividing by it.

topic: numerics
features: prod, zero
rule: torch.prod
"""

import torch

none = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
one = torch.tensor([2.0, 0.0, 4.0], requires_grad=True)
two = torch.tensor([0.0, 0.0, 4.0], requires_grad=True)
none.prod().backward()
one.prod().backward()
two.prod().backward()
rows = torch.tensor([[1.0, 0.0], [2.0, 5.0]], requires_grad=True)
rows.prod(dim=1).sum().backward()
