"""An intermediate that is used again and again passes its gradient on once, after all its uses delivered.

topic: engine
features: engine, accumulate
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
source: R089, karpathy/micrograd#2
"""

import torch

a = torch.tensor(1.0, requires_grad=True)
b = a + a
c = b + b
d = c * b + c
d.backward()
