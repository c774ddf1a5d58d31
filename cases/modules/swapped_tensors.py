"""swap_tensors lets two tensors change places, attributes and graph with them; modules convert and load so if
asked to, and a graph from before is poisoned.

topic: modules
features: swap_tensors, parameter, state_dict
rule: https://docs.pytorch.org/docs/stable/generated/torch.utils.swap_tensors.html
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.zeros(3)
a.label = "first"
torch.utils.swap_tensors(a, b)
print(a, b, a.__dict__, b.__dict__)
layer = torch.nn.Linear(2, 1, bias=False)
with torch.no_grad():
    layer.weight.fill_(1.0)
weight = layer.weight
loss = layer(torch.ones(2)).sum()
torch.__future__.set_swap_module_params_on_conversion(True)
state = {"weight": torch.tensor([[2.0, 3.0]])}
layer.load_state_dict(state)
print(layer.weight is weight, layer.weight, layer.weight._version)
layer.double()
print(layer.weight is weight, weight.dtype)
torch.__future__.set_swap_module_params_on_conversion(False)
loss.backward()  # raises RuntimeError
torch.__future__.set_overwrite_module_params_on_conversion(True)
layer.float()
print(layer.weight is weight, weight.dtype, layer.weight.dtype)
torch.__future__.set_overwrite_module_params_on_conversion(False)
