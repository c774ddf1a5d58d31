"""A result that requires grad cannot be deep-copied; its detached clone can.

topic: copies
features: deepcopy, clone, detach
rule: torch.Tensor.is_leaf
"""

import copy

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
bad = copy.deepcopy(y)  # raises deepcopy
good = copy.deepcopy(y.detach())
clone = y.clone()
clone.sum().backward()
