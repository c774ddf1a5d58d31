"""An argument without a derivative may require grad where nothing is recorded.

topic: modes
features: no_grad, not-differentiable, weight
rule: torch.no_grad
"""

import torch
import torch.nn.functional as F

logits = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
weight = torch.ones(2, requires_grad=True)
target = torch.tensor([0, 1])
F.nll_loss(logits, target, weight)  # raises RuntimeError
F.multi_margin_loss(logits, target, weight=weight)  # raises RuntimeError
with torch.no_grad():
    loss = F.nll_loss(logits, target, weight)
    margin = F.multi_margin_loss(logits, target, weight=weight)

print(loss, margin)
F.nll_loss(logits, target, weight.detach()).backward()
