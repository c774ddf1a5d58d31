"""The check looks at the version, not the value: adding one and taking it away again is still an error.

topic: inplace
features: version-counter, mul
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0])
b = (a * w).sum()
w.add_(1.0)
w.sub_(1.0)
b.backward()  # raises version-mismatch
