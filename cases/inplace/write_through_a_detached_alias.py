"""A write through a detached alias is seen by the check though it leaves no history.

topic: inplace
features: version-counter, detach, alias
rule: torch.Tensor.detach
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 1.0
z = y * y
alias = y.detach()
alias.add_(1.0)
y.sum().backward(retain_graph=True)
z.sum().backward()  # raises version-mismatch
