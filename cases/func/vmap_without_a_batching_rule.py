"""An op for which PyTorch has no batching rule runs once for each sample, with a warning.

topic: func
features: vmap, warnings, StackBackward0
rule: torch.vmap
"""

import torch

batch = torch.arange(6.0).view(3, 2).requires_grad_()
taken = torch.vmap(lambda row: row.take(torch.tensor([1, 0, 1])))(batch)
taken.sum().backward()
batch.grad
