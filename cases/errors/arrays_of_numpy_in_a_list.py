"""A list of arrays warns for each of them, and one of arrays without dimensions is no list of numbers.

topic: errors
features: numpy, warning, error
rule: torch.tensor
"""

import torch

import numpy as np

torch.set_warn_always(True)
row = np.array([1.0, 2.0])
table = torch.tensor([row, row])
nested = torch.tensor([[row], [row]])
empty = torch.tensor([np.array([]), np.array([])])
torch.tensor([np.array(1.0)])  # raises TypeError
numbers = torch.tensor([np.float32(1.0), 2])
kept = torch.ones(2, dtype=torch.float64).new_tensor(np.array([1, 2]))
also = torch.ones(2, dtype=torch.int32).new_tensor([1.5])
