"""The gradient of a resized image is the sum over what each pixel went into, however it was resized.

topic: modules
features: interpolate, pixel-shuffle, fold
rule: torch.nn.functional.interpolate
"""

import torch

F = torch.nn.functional
x = torch.arange(4.0).view(1, 1, 2, 2).requires_grad_()
nearest = F.interpolate(x, scale_factor=2)
linear = F.interpolate(x, size=(3, 3), mode="bilinear", align_corners=True)
back = F.fold(F.unfold(nearest, 2), (4, 4), 2)
a = torch.autograd.grad(nearest.sum(), x, retain_graph=True)[0]
b = torch.autograd.grad(linear.sum(), x)[0]
c = torch.autograd.grad(back.sum(), x)[0]
F = None
