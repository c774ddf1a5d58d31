"""A gradient assigned as an expanded tensor cannot be added to: its elements share memory.

topic: accumulate
features: .grad, expand, overlap
rule: torch.Tensor.backward
"""

import torch

leaf = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
leaf.grad = torch.ones(1).expand(3)
leaf.sum().backward()  # raises RuntimeError
print(leaf.grad)
leaf.grad = torch.ones(3, 1).t()[0]
leaf.sum().backward()
print(leaf.grad, leaf.grad._version)
