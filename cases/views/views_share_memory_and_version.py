"""A view and its base share one version counter: a write to either raises both, and siblings too.

topic: views
features: view, version-counter, storage
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

base = torch.zeros(2, 3)
row = base[0]
column = base[:, 1]
row.add_(1.0)
column.mul_(10.0)
base.sub_(1.0)
fresh = base.view(6)
versions = [base._version, row._version, column._version, fresh._version]
