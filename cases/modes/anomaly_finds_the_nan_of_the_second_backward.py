"""A NaN born in the second backward is an error under detect_anomaly, and passes silently without it.

topic: modes
features: anomaly-mode, double-backward, nan, vector-norm
rule: torch.autograd.detect_anomaly
source: R164, pytorch/pytorch#43405
"""

import torch

x = torch.zeros(2, requires_grad=True)
z = torch.linalg.vector_norm(x) ** 2
with torch.autograd.detect_anomaly():
    g = torch.autograd.grad(z, x, create_graph=True)[0]
with torch.autograd.detect_anomaly():
    gg = torch.autograd.grad(g.sum(), x, retain_graph=True)  # raises nan
free = torch.autograd.grad(g.sum(), x)[0]
