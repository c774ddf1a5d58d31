"""In a chain of in-place updates each is fine, until the last one overwrites the result that exp_ saved.

topic: inplace
features: version-counter, exp, inplace-operators
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
source: R027, pytorch/pytorch#15803
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
c = torch.tensor([0.5], requires_grad=True)
b = a**2 * c**2
b += 1.0
b *= c + a
d = b.exp_()
same = d is b
d *= 5.0
b.backward()  # raises version-mismatch
