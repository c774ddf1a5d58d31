"""The gradient for the image does not depend on the image, so its own gradient there is None; with the nearest
element nothing depends on the grid.

topic: modules
features: grid_sample, double-backward
rule: torch.nn.functional.grid_sample
"""

import torch

image = torch.arange(4.0).view(1, 1, 2, 2).requires_grad_()
grid = torch.tensor([[[[0.25, -0.5], [0.0, 0.75]]]], requires_grad=True)
sampled = torch.nn.functional.grid_sample(image, grid, align_corners=False)
of_image, of_grid = torch.autograd.grad(sampled.sum(), (image, grid), create_graph=True)
first = torch.autograd.grad(of_image.square().sum(), (image, grid), retain_graph=True, allow_unused=True)
second = torch.autograd.grad(of_grid.square().sum(), grid)
near = torch.nn.functional.grid_sample(image, grid, mode="nearest", align_corners=False)
slopes = torch.autograd.grad(near.sum(), (image, grid), create_graph=True)
third = torch.autograd.grad(slopes[1].sum(), (image, grid), allow_unused=True)
