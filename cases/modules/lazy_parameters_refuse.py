"""A parameter without a shape refuses nearly all that is asked of it, until the first call of its module.

topic: modules
features: lazy-modules, torch-function, error
rule: torch.nn.parameter.UninitializedParameter
"""

import torch

norm = torch.nn.LazyBatchNorm1d()
print(norm, norm.weight, norm.running_mean, torch.nn.parameter.is_lazy(norm.bias))
norm.weight.shape  # raises RuntimeError
norm.weight.sum()  # raises ValueError
norm.running_var * 2  # raises ValueError
print(norm.weight.dtype, norm.weight.requires_grad, norm.double().weight.dtype)
kept = list(norm.state_dict())
y = norm(torch.tensor([[1.0, 2.0], [3.0, 6.0]], dtype=torch.float64))
print(norm, type(norm.weight), norm.weight.shape, norm.running_mean, kept)
