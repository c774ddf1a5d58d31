"""A graph whose nodes save no tensor may be walked again without retain_graph.

topic: backward-twice
features: freed-graph, add, neg, sum, mean
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
total = (x + x - 3.0).neg().sum()
total.backward()
total.backward()
average = x.t().reshape(2, 1).expand(2, 3).mean()
average.backward()
average.backward()
