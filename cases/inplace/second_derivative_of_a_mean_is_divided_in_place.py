"""The second derivative of an averaged loss is divided in place, whether or not a graph is made of it.

topic: inplace
features: version-counter, mse-loss, double-backward, create-graph
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([0.5, 2.0], requires_grad=True)
target = torch.tensor([1.0, 1.0])
versions = []
for loss in (torch.nn.functional.mse_loss, torch.nn.functional.smooth_l1_loss):
    for reduction in ("mean", "sum"):
        slope = torch.autograd.grad(loss(x, target, reduction=reduction), x, create_graph=True)[0]
        curve = torch.autograd.grad(slope.sum(), x, create_graph=True)[0]
        versions.append(curve._version)
