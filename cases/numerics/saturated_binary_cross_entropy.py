"""binary_cross_entropy caps its logarithms at -100, and its gradient by a small constant; the logits form
needs no cap.

topic: numerics
features: bce, bce-with-logits, clamp, infinity
rule: torch.nn.functional.binary_cross_entropy
"""

import torch
import torch.nn.functional as F

p = torch.tensor([0.0, 1.0, 0.5], requires_grad=True)
target = torch.tensor([1.0, 0.0, 1.0])
loss = F.binary_cross_entropy(p, target, reduction="none")
loss.sum().backward()
logits = torch.tensor([-200.0, 200.0, 0.0], requires_grad=True)
stable = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
stable.sum().backward()
