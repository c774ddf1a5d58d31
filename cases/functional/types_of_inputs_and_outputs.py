"""Inputs and outputs are tensors or tuples of tensors; lists and numbers are refused.

topic: functional
features: functional, error, type
rule: https://docs.pytorch.org/docs/stable/autograd.html#functional-higher-level-api
source: transforms D3
"""

import torch

x = torch.tensor([1.0, 2.0])
a = torch.autograd.functional.jacobian(lambda v: v, 3.0)  # raises TypeError
a = torch.autograd.functional.jacobian(lambda v: v, [x])  # raises TypeError
a = torch.autograd.functional.jacobian(lambda v: v, (x, 2))  # raises TypeError
a = torch.autograd.functional.jacobian(lambda v: [v, v], x)  # raises TypeError
a = torch.autograd.functional.jacobian(lambda v: (v, 3), x)  # raises TypeError
a = torch.autograd.functional.jacobian(lambda v: v, torch.tensor([1, 2]))  # raises leaf-flag
