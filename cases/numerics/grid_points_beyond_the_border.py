"""A grid point beyond the border keeps the sign of its gradient: the factor zero comes after the sum.

topic: numerics
features: grid-sample, border, signed-zero
rule: torch.nn.functional.grid_sample
"""

import torch
from torch.nn.functional import grid_sample

image = torch.tensor([[[[3.0, 1.0], [2.0, 5.0]]]], requires_grad=True)
points = torch.tensor([[[[-3.0, 0.5], [0.25, 2.0], [4.0, -4.0]]]], requires_grad=True)
for padding in ("border", "reflection", "zeros"):
    samples = grid_sample(image, points, padding_mode=padding, align_corners=False)
    grads = torch.autograd.grad((samples * torch.tensor([-1.0, 2.0, -4.0])).sum(), (image, points))
    print(padding, *grads)
