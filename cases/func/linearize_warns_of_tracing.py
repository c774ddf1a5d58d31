"""linearize computes at a point once and maps tangents; only PyTorch's tracer behind it has something to say.

topic: func
features: func, linearize, warning
rule: torch.func.linearize
source: documentation of torch.func.linearize
"""

import torch

x = torch.tensor([0.5, 1.0])
output, tangents = torch.func.linearize(lambda t: t.sin(), x)
moved = tangents(torch.ones(2))
print(output, moved)
