"""Pooling and convolution each have words of their own for inputs, and filters, of the wrong rank.

topic: errors
features: pooling, convolution, error
rule: torch.nn.functional.avg_pool2d
"""

import torch

F = torch.nn.functional
plane = torch.ones(4, 4)
F.avg_pool2d(plane, 2)  # raises IndexError
F.max_pool2d(plane, 0)  # raises RuntimeError
F.avg_pool2d(torch.ones(1, 1, 1, 4, 4), 2)  # raises RuntimeError
F.max_pool2d(torch.ones(1, 0, 4, 4), 2)  # raises RuntimeError
F.avg_pool3d(torch.ones(2, 0, 4, 4), 2)  # raises RuntimeError
no_batch = F.avg_pool2d(torch.ones(0, 1, 4, 4), 2)
F.conv1d(plane, plane)  # raises RuntimeError
F.conv_transpose1d(plane, torch.ones(2))  # raises RuntimeError
F.pad(plane, (1, 1, 1), mode="nothing")  # raises NotImplementedError
F.nll_loss(torch.zeros(1, 2), torch.tensor(1))  # raises ValueError
