"""torch.tensor refuses ragged lists, strings and None; requires_grad refuses integers.

topic: errors
features: tensor, dtype, error
rule: torch.tensor
"""

import torch

torch.tensor([[1.0, 2.0], [3.0]])  # raises shape
torch.tensor("text")  # raises argument
torch.tensor(None)  # raises dtype
torch.tensor([1, 2], requires_grad=True)  # raises leaf-flag
torch.zeros(2, -1)  # raises shape
torch.ones(2, dtype=float, requires_grad=True).sum().backward()
kinds = [torch.tensor(x).dtype for x in (1, 1.0, True, 1j, [1, 2.0])]
