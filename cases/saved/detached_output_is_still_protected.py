"""The saved result of exp shares memory and version with the output and its detached aliases.

topic: saved
features: saved-tensors, exp, version-counter, detach
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.exp()
alias = y.detach()
z = y.sum()
alias.sub_(1.0)
z.backward()  # raises version-mismatch
