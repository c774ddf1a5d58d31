"""Methods can be taken from the class, called on tensors of it, and listed.

topic: interface
features: class-attributes, unbound-methods, dir
rule: torch.Tensor
"""

import torch

add = torch.Tensor.add
x = torch.ones(2, requires_grad=True)
y = add(x, x)
y.sum().backward()
print([hasattr(torch.Tensor, name) for name in ("sum", "relu_", "gelu", "backward", "no_such")])
print([name in dir(x) for name in ("sum", "relu_", "shape", "grad_fn", "no_such")])
print([name in dir(torch.Tensor) for name in ("sum", "relu_", "shape", "grad_fn", "no_such")])
torch.Tensor.no_such  # raises AttributeError
mapped = list(map(torch.Tensor.detach, [x, y]))
