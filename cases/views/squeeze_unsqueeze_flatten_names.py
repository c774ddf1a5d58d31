"""The squeezing views have node names of their own: all dimensions, one dimension, several.

topic: views
features: view, squeeze, unsqueeze, flatten, grad-fn
rule: torch.squeeze
"""

import torch

x = torch.ones(1, 2, 1, requires_grad=True)
everything = x.squeeze()
one = x.squeeze(0)
two = x.squeeze((0, 2))
grown = x.unsqueeze(-1)
flat = x.flatten()
(everything.sum() + one.sum() + two.sum() + grown.sum() + flat.sum()).backward()
