"""A write through detach() is caught at backward; the same write through data is missed and the gradient is
silently wrong.

topic: inplace
features: version-counter, detach, data, sigmoid
rule: torch.Tensor.detach
source: R024, pytorch/pytorch#6990
"""

import torch

a = torch.tensor([0.0, 1.0], requires_grad=True)
caught = a.sigmoid()
caught.detach().zero_()
caught.sum().backward()  # raises version-mismatch
missed = a.sigmoid()
missed.data.zero_()
missed.sum().backward()
