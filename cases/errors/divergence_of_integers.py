"""A divergence is refused for integers and complex numbers, targets among them; others fail where they are computed.

topic: errors
features: kl_div, huber, soft-margin, dtype, error
rule: torch.nn.functional.kl_div
"""

import torch
import torch.nn.functional as F

x = torch.tensor([0.5, 0.25], requires_grad=True)
F.kl_div(x, torch.tensor([1, 0]), reduction="sum")  # raises RuntimeError
F.kl_div(x, torch.tensor([1.0j, 0.0]), reduction="sum")  # raises RuntimeError
F.huber_loss(torch.tensor([1.0j]), torch.tensor([0.0j]))  # raises NotImplementedError
F.soft_margin_loss(x, torch.tensor([1.0, -1.0, 1.0]))  # raises RuntimeError
F.multilabel_soft_margin_loss(x, x.detach(), reduction="avg")  # raises ValueError
