"""relu_ on a matrix product is safe, as mm does not need its own result.

topic: inplace
features: inplace, relu, linear
rule: torch.nn.functional.relu
"""

import torch

x = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
w = torch.tensor([[1.0, -1.0], [2.0, 0.5]], requires_grad=True)
y = x @ w
y.relu_()
y.sum().backward()
