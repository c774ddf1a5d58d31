"""The flags of a backend hold for the time of a with statement; those left out are off.

topic: interface
features: backends, context-manager
rule: https://docs.pytorch.org/docs/stable/backends.html
"""

import torch

with torch.backends.cudnn.flags(benchmark=True):
    inside = (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark)
outside = (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark)
x = torch.ones(2, requires_grad=True)
with torch.backends.cudnn.flags(enabled=False):
    (x * x).sum().backward()
