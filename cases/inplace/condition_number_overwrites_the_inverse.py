"""The condition number writes into the inverse that it saved, so its backward raises.

topic: inplace
features: cond, inverse, version-counter, error
rule: torch.linalg.cond
"""

import torch

a = torch.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
by_values = torch.linalg.cond(a)
by_inverse = torch.linalg.cond(a, 1)
by_values.backward()
by_inverse.backward()  # raises version-mismatch
