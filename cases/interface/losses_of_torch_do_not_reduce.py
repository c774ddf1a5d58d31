"""The losses that stand in torch itself return every term; those of torch.nn.functional take the mean.

topic: interface
features: loss, reduction, default
rule: torch.nn.functional.kl_div
"""

import torch
import torch.nn.functional as F

x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
label = torch.tensor([1.0, -1.0, 1.0])
terms = torch.hinge_embedding_loss(x, label)
mean = F.hinge_embedding_loss(x, label)
total = torch.hinge_embedding_loss(x, label, 1.0, 2)
divergence = torch.kl_div(x, label.abs())
ranking = torch.margin_ranking_loss(x, label, label)
logits = torch.binary_cross_entropy_with_logits(x, label.abs())
