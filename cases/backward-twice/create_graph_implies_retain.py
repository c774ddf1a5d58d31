"""create_graph=True keeps the graph; with retain_graph=False it is freed, and the second derivative fails
where it needs it.

topic: backward-twice
features: create-graph, retain-graph, freed-graph
rule: torch.Tensor.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a.exp()
kept = torch.autograd.grad(b, a, create_graph=True)[0]
second = torch.autograd.grad(kept, a, retain_graph=True)[0]
freed = torch.autograd.grad(b, a, create_graph=True, retain_graph=False)[0]
third = torch.autograd.grad(freed, a)  # raises freed-graph
