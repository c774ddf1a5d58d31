"""Each write raises the version by one, also an empty one; t[0] += 1 is two writes.

topic: inplace
features: version-counter, inplace-operators, index-assignment
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch

t = torch.zeros(4)
t.add_(1.0)
t *= 2.0
t[0] = 5.0
t[0] += 1.0
t[4:] = 9.0
t[t > 3.0] = 0.0
t.fill_(7.0).zero_()
version = t._version
