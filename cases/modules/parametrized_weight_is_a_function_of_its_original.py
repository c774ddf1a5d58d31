"""A parametrised weight is computed anew at each look; its original is what an optimizer sees and what gets
the gradient.

topic: modules
features: parametrize, property
rule: torch.nn.utils.parametrize.register_parametrization
"""

import torch


class Squared(torch.nn.Module):
    def forward(self, value):
        return value * value


layer = torch.nn.Linear(2, 1, bias=False)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([[2.0, 3.0]]))
torch.nn.utils.parametrize.register_parametrization(layer, "weight", Squared())
names = [name for name, _ in layer.named_parameters()]
leaf, twice = layer.weight.is_leaf, layer.weight is layer.weight
layer(torch.tensor([[1.0, 1.0]])).sum().backward()
g = layer.parametrizations.weight.original.grad
torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
w = layer.weight
