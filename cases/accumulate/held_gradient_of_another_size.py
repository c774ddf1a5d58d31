"""A leaf whose data got another size keeps its old gradient, which no new one can be added to.

topic: accumulate
features: data, shape, accumulate, error
rule: torch.Tensor.grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * 3.0).sum().backward()
x.data = torch.tensor([1.0, 2.0, 3.0])
(x * 5.0).sum().backward()  # raises RuntimeError
x.grad = None
(x * 5.0).sum().backward()
