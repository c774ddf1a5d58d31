"""cat wants equal sizes in all other dimensions, stack equal sizes in all; neither takes an empty list.

topic: errors
features: shape, cat, stack, error
rule: torch.cat
"""

import torch

a = torch.ones(2, 3, requires_grad=True)
b = torch.ones(2, 2)
torch.cat([a, b])  # raises shape
torch.stack([a, b])  # raises shape
torch.cat([])  # raises ValueError
torch.stack([])  # raises shape
torch.cat([a, torch.ones(3)])  # raises shape
torch.cat([a, b], dim=1).sum().backward()
