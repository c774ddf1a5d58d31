"""The two parts of a leaf's gradient are summed first, then added to what grad holds: -8 survives beside
1e8, -4 twice would not.

topic: engine
features: engine, accumulate, rounding
rule: https://docs.pytorch.org/docs/stable/autograd.html#default-gradient-layouts
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
a.grad = torch.tensor([1e8])
((a * 1.0) + (a * 1.0)).backward(torch.tensor([-4.0]))
by_hand = torch.tensor([1e8])
by_hand += torch.tensor([-4.0])
by_hand += torch.tensor([-4.0])
