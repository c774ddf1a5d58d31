"""Under no_grad a leaf may be updated in place: it stays a leaf, its version rises, its grad is untouched.

topic: leaf
features: leaf, no-grad, version-counter
rule: torch.no_grad
"""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * w).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
    w.grad.zero_()
(w * w).sum().backward()
