"""dropout zeroes elements at random and scales the rest; the gradient takes the same mask. In evaluation it
is the identity.

topic: random
features: dropout, manual-seed
rule: torch.nn.functional.dropout
"""

import torch
import torch.nn.functional as F

torch.manual_seed(4)
x = torch.ones(10, requires_grad=True)
y = F.dropout(x, p=0.5)
y.sum().backward()
z = F.dropout(x, p=0.5, training=False)
same = z is x
everything = F.dropout(x, p=1.0)
