"""After backward a node's saved tensors raise when read, while its numbers and sizes stay readable.

topic: saved
features: saved-tensors, freed-graph
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
y = x.pow(2)
node = y.grad_fn
before = node._saved_self
y.sum().backward()
exponent = node._saved_exponent
after = node._saved_self  # raises freed-graph
edges = len(node.next_functions)
