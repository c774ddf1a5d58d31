"""Kernel, stride, padding and output size that make no patches are refused, each with its own text.

topic: errors
features: pool, adaptive-pool, unfold, groups, error
rule: torch.nn.functional.avg_pool2d
"""

import torch
import torch.nn.functional as F

row, plane = torch.zeros(1, 1, 4), torch.zeros(1, 1, 4, 4)
F.avg_pool2d(plane, -1)  # raises RuntimeError
F.max_pool2d(plane, 2, stride=(1, -1))  # raises RuntimeError
F.avg_pool1d(row, 2, padding=-1)  # raises RuntimeError
F.max_pool2d(plane, 2, padding=(1, 1, 1))  # raises RuntimeError
F.max_pool1d(row, (1, 2))  # raises RuntimeError
F.avg_pool3d(torch.zeros(1, 1, 2, 2, 2), (1, 3, 1), padding=(0, 1, 0))  # raises RuntimeError
F.adaptive_avg_pool2d(plane, (2, -1))  # raises RuntimeError
F.adaptive_max_pool1d(row, (1, 2))  # raises RuntimeError
row[0, 0].unfold(0, -1, 1)  # raises RuntimeError
F.conv1d(torch.zeros(1, 6, 2), torch.zeros(2, 2, 1), groups=3)  # raises RuntimeError
