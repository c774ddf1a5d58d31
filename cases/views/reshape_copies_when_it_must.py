"""reshape gives a view when the strides allow it and a copy when not, where view raises.

topic: views
features: view, reshape, contiguous
rule: torch.Tensor.reshape, torch.Tensor.view
"""

import torch

x = torch.arange(6.0).reshape(2, 3).requires_grad_()
viewed = x.reshape(3, 2)
copied = x.t().reshape(6)
flags = [viewed._is_view(), copied._is_view()]
x.t().view(6)  # raises shape
(viewed.sum() + (copied * copied).sum()).backward()
