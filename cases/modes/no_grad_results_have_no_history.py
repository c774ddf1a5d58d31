"""Results made under no_grad need no grad, but a factory asked for requires_grad=True obeys and leaves keep
their flag.

topic: modes
features: no-grad, requires-grad
rule: torch.no_grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    y = x * 2.0
    made = torch.zeros(2, requires_grad=True)
    flag = x.requires_grad
(x * y + made).sum().backward()
