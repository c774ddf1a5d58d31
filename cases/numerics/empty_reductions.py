"""Over no elements the sum is 0, the product 1 and the mean NaN; max has nothing to choose from.

topic: numerics
features: sum, mean, prod, empty, nan, error
rule: torch.sum, torch.prod, torch.mean
"""

import torch

x = torch.zeros(0, requires_grad=True)
total = x.sum()
product = x.prod()
average = x.mean()
x.max()  # raises RuntimeError
(total + product).backward()
table = torch.zeros(0, 3, requires_grad=True)
columns = table.sum(0)
columns.sum().backward()
