"""Where no class comes near the target, the target's gradient is a positive zero.

topic: numerics
features: multi-margin-loss, signed-zero
rule: torch.nn.functional.multi_margin_loss
"""

import torch
from torch.nn.functional import multi_margin_loss

scores = torch.tensor([[4.0, 1.0, 0.0], [1.0, 1.5, 0.0]], requires_grad=True)
multi_margin_loss(scores, torch.tensor([0, 0])).backward()
(squared,) = torch.autograd.grad(multi_margin_loss(scores, torch.tensor([0, 1]), p=2, margin=0.5), scores)
