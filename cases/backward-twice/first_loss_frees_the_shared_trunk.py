"""Two heads over one trunk: with retain_graph on the first both pass, and the trunk is freed by the second.

topic: backward-twice
features: retain-graph, freed-graph, exp
rule: torch.Tensor.backward
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
trunk = a.exp()
left = trunk * 2.0
right = trunk * 3.0
left.backward(retain_graph=True)
right.backward()
left.backward()  # raises freed-graph
