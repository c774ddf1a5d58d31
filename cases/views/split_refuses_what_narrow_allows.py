"""An output of split must not be written to in place; the same window taken by narrow may be.

topic: views
features: multi-view, split, narrow, view-inplace
rule: torch.split
"""

import torch

x = torch.arange(4.0, requires_grad=True)
base = x * 1.0
left, right = base.split(2)
left.zero_()  # raises view-inplace
base.narrow(0, 0, 2).zero_()
base.sum().backward()
