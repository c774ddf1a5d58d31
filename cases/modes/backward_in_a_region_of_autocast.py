"""A backward that runs in a region of autocast computes its products in bfloat16; the gradients come in the
types of the leaves.

topic: modes
features: autocast, backward, gradient-dtype
rule: https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

import torch

x = torch.tensor([[1.0, 0.3], [0.7, -1.0]], requires_grad=True)
w = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)
for inside in (False, True):
    x.grad = w.grad = None
    loss = (x @ w).sin().sum()
    with torch.autocast("cpu", enabled=inside):
        loss.backward()
    print(x.grad, w.grad)
