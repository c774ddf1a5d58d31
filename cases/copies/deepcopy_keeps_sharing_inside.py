"""Two names of one leaf in a list are two names of one copy after deepcopy.

topic: copies
features: deepcopy, list, parameter
rule: torch.Tensor
"""

import copy

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
pair = copy.deepcopy([w, w])
same = pair[0] is pair[1]
(pair[0] * pair[1]).sum().backward()
version = pair[0]._version
