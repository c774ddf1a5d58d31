"""A window with several NaN counts its last one as the greatest, where equal numbers count the first.

topic: numerics
features: max-pool, nan, ties
rule: torch.nn.functional.max_pool2d
"""

import torch

nan = float("nan")
x = torch.tensor([[[[1.0, nan, 2.0], [nan, 3.0, 3.0]]]], requires_grad=True)
values, places = torch.nn.functional.max_pool2d(x, 2, stride=1, return_indices=True)
values.sum().backward()
pooled, place = torch.nn.functional.adaptive_max_pool2d(x, 1, return_indices=True)
ties = torch.nn.functional.max_pool1d(torch.tensor([[3.0, 3.0]]), 2, return_indices=True)[1]
