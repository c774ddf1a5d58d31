"""no_grad decorates with and without parentheses, and an inner enable_grad still wins.

topic: modes
features: no-grad, decorator
rule: torch.no_grad
"""

import torch


@torch.no_grad()
def double(x):
    return x * 2.0


@torch.no_grad
def triple(x):
    with torch.enable_grad():
        return x * 3.0


x = torch.tensor([1.0], requires_grad=True)
flags = [double(x).requires_grad, triple(x).requires_grad]
name = double.__name__
triple(x).backward()
