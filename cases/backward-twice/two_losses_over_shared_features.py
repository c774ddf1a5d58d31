"""One grad call per loss over shared features: the first call frees the shared part, so the second fails.

topic: backward-twice
features: grad, freed-graph
rule: torch.autograd.grad
source: R006, SimplexLab/TorchJD#398
"""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
features = w * w
first_loss = features.sum()
second_loss = (features * 3.0).sum()
first = torch.autograd.grad(first_loss, w)
second = torch.autograd.grad(second_loss, w)  # raises freed-graph
