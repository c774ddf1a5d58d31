"""The saved result of exp shares memory and version with the output and its detached aliases.

topic: saved
features: saved-tensors, exp, version-counter, detach
rule: torch.autograd mechanics, saved tensors
"""

import torch

x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x.exp()
alias = y.detach()
z = y.sum()
alias.sub_(1.0)
z.backward()  # raises version-mismatch
