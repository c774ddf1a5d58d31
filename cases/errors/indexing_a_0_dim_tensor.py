"""A tensor without dimensions takes no index: 0 is told to use item(), another number that there is nothing.

topic: errors
features: index, error
rule: torch.Tensor.item
"""

import torch

loss = torch.tensor([1.0, 2.0], requires_grad=True).sum()
first = loss[0]  # raises IndexError
second = loss[1]  # raises IndexError
last = loss[-1]  # raises IndexError
listed = loss[[0]]  # raises IndexError
masked = loss[torch.tensor([True])]  # raises IndexError
pair = loss[None, 0]  # raises IndexError
part = loss[:1]  # raises IndexError
added = loss[None]
same = loss[...]
kept = loss.detach()
kept[0] = 5.0  # raises IndexError
kept[...] = 5.0
kept[True] = 6.0
