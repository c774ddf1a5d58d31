"""Indices outside their dimension, too many of them, and a mask of the wrong shape are refused.

topic: errors
features: index, indexing, gather, error
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

x = torch.ones(2, 3, requires_grad=True)
x[2]  # raises index
x[0, 0, 0]  # raises index
x[[0, 5]]  # raises index
x[torch.tensor([True, False, True])]  # raises IndexError
x[1.5]  # raises IndexError
x.gather(1, torch.tensor([[3]]))  # raises index
x.index_select(0, torch.tensor([4]))  # raises index
x[-2:, ::2].sum().backward()
