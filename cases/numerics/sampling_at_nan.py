"""A point that is NaN lies at the beginning of an image that holds it, at the end of a volume; zeros around the
image give NaN, which its weights are.

topic: numerics
features: grid_sample, nan, infinity
rule: torch.nn.functional.grid_sample
"""

import torch

F = torch.nn.functional
nan, inf = float("nan"), float("inf")
image = torch.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]], requires_grad=True)
grid = torch.tensor([[[[nan, 0.0], [inf, -1.0], [0.25, nan]]]])
at_the_border = F.grid_sample(image, grid, padding_mode="border", align_corners=True)
mirrored = F.grid_sample(image, grid, mode="nearest", padding_mode="reflection", align_corners=True)
around = F.grid_sample(image, grid, align_corners=True)
cubic = F.grid_sample(image, grid, mode="bicubic", padding_mode="border", align_corners=True)
volume = torch.arange(8.0).view(1, 1, 2, 2, 2)
points = torch.tensor([[[[[nan, 0.0, 0.0], [0.0, -1.0, nan]]]]])
in_a_volume = F.grid_sample(volume, points, padding_mode="border", align_corners=True)
