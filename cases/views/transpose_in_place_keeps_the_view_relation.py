"""transpose_ leaves a non-view a non-view and a view a view, and the gradient follows the new arrangement.

topic: views
features: view, transpose, inplace
rule: torch.Tensor.transpose_
source: R037, pytorch/pytorch#47704
"""

import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = x.clone()
y.transpose_(0, 1)
alone = y._base is None
v = x.clone().view(2, 2)
v.t_()
based = v._base is not None
v.mul_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
(v[0].sum() + y[0].sum()).backward()
