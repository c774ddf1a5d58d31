"""exp saves its result, not its input: changing the input afterwards is fine, changing the result is not.

topic: inplace
features: version-counter, exp
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
"""

import torch

a = torch.tensor([0.0, 1.0], requires_grad=True)
b = a + 1.0
c = b.exp()
b.zero_()
c.sum().backward(retain_graph=True)
c.mul_(2.0)
c.sum().backward()  # raises version-mismatch
