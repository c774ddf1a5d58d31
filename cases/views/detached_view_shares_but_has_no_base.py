"""detach shares memory and version with its source but is no view; data shares memory and has a version of
its own.

topic: views
features: view, detach, version-counter
rule: torch.Tensor.detach
"""

import torch

x = torch.tensor([1.0, 2.0])
x.add_(1.0)
detached = x.detach()
data = x.data
detached.add_(1.0)
data.add_(1.0)
versions = [x._version, detached._version, data._version]
