"""An orthogonal weight is made of any matrix; one that is orthogonal can be assigned, since it is multiplied
with a fixed matrix.

topic: modules
features: parametrize, orthogonal
rule: torch.nn.utils.parametrizations.orthogonal
"""

import torch
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal

layer = torch.nn.Linear(2, 2, bias=False)
with torch.no_grad():
    layer.weight.copy_(torch.eye(2))
orthogonal(layer)
print(layer.weight, layer.parametrizations.weight.original)
layer(torch.ones(1, 2)).sum().backward()
layer.weight = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
print(layer.weight)
other = parametrize.transfer_parametrizations_and_params(layer, torch.nn.Linear(2, 2))
print(other, other.weight)
layer.weight = torch.ones(2, 3)  # raises ValueError
orthogonal(torch.nn.Linear(2, 2), "bias")  # raises ValueError
