"""The warning that create_graph makes a cycle comes before those of the run itself.

topic: accumulate
features: create_graph, warnings, layout
rule: torch.Tensor.backward
"""

import torch

leaf = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
leaf.grad = torch.ones(2, 2).t().contiguous().t()
leaf.sum().backward(create_graph=True)
print(leaf.grad.stride())
