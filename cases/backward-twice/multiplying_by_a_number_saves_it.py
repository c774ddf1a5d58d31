"""x * 2.0 saves its number as a tensor, so even this graph cannot be walked twice; x + 2.0 can.

topic: backward-twice
features: freed-graph, mul, wrapped-number
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
doubled = (x * 2.0).sum()
doubled.backward()
doubled.backward()  # raises freed-graph
shifted = (x + 2.0).sum()
shifted.backward()
shifted.backward()
