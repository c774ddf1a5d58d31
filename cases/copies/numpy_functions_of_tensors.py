"""A NumPy function of a tensor gives a tensor, booleans as bytes; one that requires grad is refused.

topic: copies
features: numpy
rule: torch.Tensor.numpy
"""

import numpy as np

import torch

x = torch.tensor([1.0, float("nan"), 4.0], requires_grad=True)
roots = np.sqrt(x.detach())
gaps = np.isnan(x.detach())
np.exp(x)  # raises numpy
plain = np.asarray(x.detach())
plain[0] = 9.0
