"""The gradient given must have exactly the shape of the result: nothing is broadcast.

topic: errors
features: gradient-argument, gradient-mismatch, error
rule: torch.Tensor.backward
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x + 1.0
y.backward(torch.ones(1))  # raises gradient-mismatch
y.backward(torch.ones(1, 2))  # raises gradient-mismatch
y.sum().backward(torch.ones(1))  # raises gradient-mismatch
y.backward(torch.ones(2, dtype=torch.complex64))  # raises gradient-mismatch
y.backward(3.0)  # raises TypeError
y.backward(torch.ones(2, dtype=torch.int64))
