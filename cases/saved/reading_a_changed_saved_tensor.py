"""Reading a saved tensor that was changed raises at once; no backward is needed.

topic: saved
features: saved-tensors, version-counter
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
w = torch.tensor([5.0, 7.0])
y = x * w
w.add_(1.0)
saved = y.grad_fn._saved_other  # raises version-mismatch
y.sum().backward()  # raises version-mismatch
