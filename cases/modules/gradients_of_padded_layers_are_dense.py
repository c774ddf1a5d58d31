"""What was padded is cut off again: the gradient lies as the input does, dimensions of size 1 too.

topic: modules
features: pool, convolution, padding, strides
rule: torch.nn.functional.avg_pool1d
"""

import torch
import torch.nn.functional as F

row = torch.tensor([[[1.0, 5.0, 2.0, 4.0]]], requires_grad=True)
F.avg_pool1d(row, 3, stride=2, padding=1, count_include_pad=False).sum().backward()
(of_max,) = torch.autograd.grad(F.max_pool1d(row, 2, padding=1).sum(), row)
(of_convolution,) = torch.autograd.grad(F.conv1d(row, torch.ones(1, 1, 3), padding=1).sum(), row)
(of_unfold,) = torch.autograd.grad(F.unfold(row[None], (1, 3), padding=(0, 1)).sum(), row)
(of_pad,) = torch.autograd.grad(F.pad(row, (2, 1), mode="reflect").sum(), row)
