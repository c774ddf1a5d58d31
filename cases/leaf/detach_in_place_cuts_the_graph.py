"""detach_ turns a result into a leaf without grad; what was computed from it before keeps the old graph.

topic: leaf
features: leaf, detach, freed-graph
rule: torch.Tensor.detach_
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
before = y + 1.0
same = y.detach_()
identical = same is y
after = y * 3.0
before.sum().backward()
