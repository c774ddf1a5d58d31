"""Inside allow_mutation_on_saved_tensors a saved tensor is copied just before it is written.

topic: saved
features: saved-tensors, inplace
rule: torch.autograd.graph.allow_mutation_on_saved_tensors
"""

import torch

x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    a = x * 1
    y = a * a
    a.mul_(9)
    y.sum().backward()
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    b = x * 1
    z = b * b
z.sum().backward()  # raises saved-tensor
