"""view and reshape refuse sizes that do not hold the elements, two unknown sizes, and an unknown size of an
empty tensor.

topic: errors
features: shape, view, reshape, error
rule: torch.Tensor.view
"""

import torch

x = torch.arange(6.0, requires_grad=True)
x.view(4, 2)  # raises shape
x.reshape(5)  # raises shape
x.view(-1, -1)  # raises RuntimeError
x.view(-1, 4)  # raises shape
x.view("6")  # raises argument
torch.zeros(0).view(-1, 0)  # raises shape
x.view(2, -1).sum().backward()
