"""backward without a gradient wants one real floating element; an integer result has no graph at all.

topic: errors
features: not-scalar, gradient-argument, error
rule: torch.Tensor.backward
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2.0
y.backward()  # raises not-scalar
y.detach().sum().backward()  # raises no-grad
torch.zeros(0, requires_grad=True).backward()  # raises not-scalar
y.long().sum().backward()  # raises no-grad
y[:1].view(1, 1).backward()
