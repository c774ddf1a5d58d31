"""Methods that PyTorch writes in Python are refused by Python itself, with the name of the class.

topic: errors
features: argument, method, refused
rule: torch.Tensor.split
"""

import torch

x = torch.ones(4)
x.split()  # raises TypeError
x.split(2, sizes=3)  # raises TypeError
x.is_shared(1)  # raises TypeError
x.dim_order(1)  # raises TypeError
x.module_load()  # raises TypeError
