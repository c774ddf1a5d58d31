"""The refusal of a saved tensor that was written names bfloat16 as CPUBFloat16Type.

topic: inplace
features: bfloat16, version-counter, error
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch

x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
y = x * 2.0
z = y * y
y.add_(1.0)
z.sum().backward()  # raises version-mismatch
