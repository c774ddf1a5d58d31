"""uniform_ and normal_ fill a tensor with one write; leaves take them under no_grad.

topic: random
features: uniform, normal, version-counter, manual-seed
rule: torch.Tensor.uniform_, torch.Tensor.normal_
"""

import torch

torch.manual_seed(5)
x = torch.empty(4).uniform_(-1.0, 1.0)
y = torch.empty(3, dtype=torch.float64).normal_(10.0, 2.0)
z = torch.empty(16).normal_(0.0, 0.5)
w = torch.zeros(3, requires_grad=True)
w.uniform_()  # raises leaf-inplace
with torch.no_grad():
    w.uniform_(2.0, 3.0)
versions = [x._version, w._version]
