"""A gradient of the wrong shape is an error before the saved tensors are freed.

topic: saved
features: saved-tensors, freed, scatter, error
rule: torch.Tensor.scatter
"""

import torch

src = torch.ones(2, 3, requires_grad=True)
index = torch.tensor([[0, 1, 2]])
out = torch.zeros(3, 3).scatter(0, index, src)
out.sum().backward()  # raises gradient-mismatch
print(out.grad_fn._saved_index)
