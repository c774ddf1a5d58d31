"""A clone of an inference tensor is a normal tensor, its detach one that may be written and not saved.

topic: modes
features: inference-mode, clone, detach, version-counter
rule: torch.autograd.grad_mode.inference_mode
"""

import torch

x = torch.ones(2, requires_grad=True)
with torch.inference_mode():
    t = torch.full((2,), 3.0)
copy = t.clone()
total = t.sum()
alias = t.detach()
alias.add_(1.0)
(x * alias).sum()  # raises inference
t.add_(1.0)  # raises inference
(x * copy).sum().backward()
