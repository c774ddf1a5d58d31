"""The second derivatives of a layer norm are views of flat memory, so that a further gradient is not added in place.

topic: modules
features: layer-norm, double-backward, version-counter, view
rule: torch.autograd.grad
"""

import torch

torch.manual_seed(0)
x = torch.tensor([[0.75, -1.0, 2.0], [2.5, 1.0, 0.0]], requires_grad=True)
layer = torch.nn.LayerNorm(3)
inputs = [x, layer.weight]
of_input, of_weight = torch.autograd.grad((layer(x) ** 3).sum(), inputs, create_graph=True)
both = torch.autograd.grad((of_input**2).sum() + of_weight.sum(), inputs, retain_graph=True)
one = torch.autograd.grad((of_input**2).sum(), inputs, retain_graph=True)
other = torch.autograd.grad(of_weight.sum(), inputs)
