"""A Parameter of a subclass's tensor stays of that class, with a mark that isinstance looks for; a module computes
with it and an optimizer moves it.

topic: modules
features: subclass, parameter, optimizer
rule: torch.nn.Parameter
"""

import torch


class Named(torch.Tensor):
    pass


weight = torch.nn.Parameter(Named([[1.0, 2.0]]))
print(weight, type(weight).__name__, isinstance(weight, torch.nn.Parameter), weight.__dict__)
layer = torch.nn.Linear(2, 1, bias=False)
layer.weight = weight
print(dict(layer.named_parameters()), type(layer.state_dict()["weight"]).__name__)
y = layer(torch.tensor([[1.0, 1.0]]))
y.sum().backward()
print(type(y).__name__, y.grad_fn.name(), type(weight.grad).__name__)
torch.optim.SGD(layer.parameters(), lr=0.5).step()
print(layer.weight, layer.weight is weight)


class Own(torch.nn.Parameter):
    pass


own = Own(torch.tensor([1.0]))
print(own, type(own * 2).__name__, torch.overrides.has_torch_function((own, weight)))
