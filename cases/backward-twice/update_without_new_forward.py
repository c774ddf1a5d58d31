"""A loss is built once and backward is called again after an update: the freed graph is refused, and the
first gradient stays.

topic: backward-twice
features: backward, freed-graph
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
source: R001, karpathy/nn-zero-to-hero#31
"""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w * w).sum()
loss.backward()
with torch.no_grad():
    w -= 0.5 * w.grad
loss.backward()  # raises freed-graph
