"""Targets and weights for which a loss has no derivative are refused when they require grad.

topic: errors
features: loss, error
rule: https://docs.pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

import torch

x = torch.tensor([[0.5, 1.0, -1.0]], requires_grad=True)
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
torch.nn.functional.soft_margin_loss(x, torch.ones(1, 3) * w)  # raises not-differentiable
torch.nn.functional.multi_margin_loss(x, torch.tensor([0]), weight=w)  # raises not-differentiable
torch.nn.functional.cross_entropy(x, torch.tensor([0]), weight=w)  # raises not-differentiable
torch.nn.functional.kl_div(x, torch.ones(1, 3) * w).backward()
with torch.no_grad():
    print(torch.nn.functional.soft_margin_loss(x, torch.ones(1, 3) * w))
