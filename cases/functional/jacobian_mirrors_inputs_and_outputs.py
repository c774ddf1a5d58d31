"""A Jacobian has the shape of its output and of its input; tuples come back as tuples.

topic: functional
features: functional, jacobian
rule: torch.autograd.functional.jacobian
source: transforms D1
"""

import torch

x = torch.tensor([1.0, 2.0])
y = torch.tensor([3.0])
a = torch.autograd.functional.jacobian(lambda v: v**2, x)
b = torch.autograd.functional.jacobian(lambda v: v**2, (x,))
c = torch.autograd.functional.jacobian(lambda v, w: (v * w.sum(), w), (x, y))
d = torch.autograd.functional.jacobian(lambda v: 5 * v.sum(), x)
e = torch.autograd.functional.jacobian(lambda v: v.long(), x)
