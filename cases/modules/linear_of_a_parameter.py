"""What is multiplied may be a parameter, or of a subclass: `linear` takes the same way as with any tensor.

topic: modules
features: linear, Parameter, as_subclass, AddmmBackward0
rule: torch.nn.functional.linear
"""

import torch
import torch.nn.functional as F
from torch import nn

weight, bias = torch.ones(4, 3, requires_grad=True), torch.zeros(4, requires_grad=True)
rows = nn.Parameter(torch.arange(12.0).view(2, 2, 3))
out = F.linear(rows, weight, bias)
vector = F.linear(nn.Parameter(torch.ones(3)), weight, bias)
alike = F.cosine_similarity(nn.Parameter(torch.ones(2, 3)), torch.ones(2, 3))


class Marked(torch.Tensor):
    pass


marked = F.linear(torch.ones(2, 2, 3).as_subclass(Marked), weight, bias)
(out.sum() + vector.sum() + alike.sum()).backward()
