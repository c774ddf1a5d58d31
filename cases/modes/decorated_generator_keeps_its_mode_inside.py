"""A generator under no_grad has grad mode off inside and leaves it on between its items.

topic: modes
features: no-grad, decorator, generator
rule: torch.no_grad
source: R151, pytorch/pytorch#31497
"""

import torch


@torch.no_grad()
def items():
    yield torch.is_grad_enabled()
    yield torch.is_grad_enabled()


stream = items()
first = (next(stream), torch.is_grad_enabled())
second = (next(stream), torch.is_grad_enabled())
