"""retain_graph=True buys exactly one more pass: the second pass frees the graph and the third is refused.

topic: backward-twice
features: backward, retain-graph, freed-graph
rule: torch.Tensor.backward
source: R004, pytorch/pytorch#30297
"""

import torch

x = torch.tensor(2.0, requires_grad=True)
y = x.exp() * x
y.backward(retain_graph=True)
y.backward()
y.backward()  # raises freed-graph
