"""A value consumed by two operations sums both gradients before its own node runs.

topic: engine
features: engine, retain-grad
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
source: R091, TrenTorch/TrenTorch#182
"""

import torch

x = torch.tensor([2.0], requires_grad=True)
y = x * 3.0
y.retain_grad()
z = y * 2.0 + y * 5.0
z.backward()
