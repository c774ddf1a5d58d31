"""Inside of a transform nothing can be put in the place of a tensor's data, nor is there a storage.

topic: func
features: func, vmap, grad, data, error
rule: torch.func.vmap
source: torch/_functorch, torch/csrc/autograd/python_variable.cpp
"""

import torch
from torch.func import grad, vmap

x = torch.tensor([1.0, 2.0])
vmap(lambda v: setattr(v, "data", x))(torch.ones(2, 2))  # raises RuntimeError
grad(lambda v: setattr(v, "data", x))(x)  # raises RuntimeError
grad(lambda v: v.untyped_storage())(x)  # raises NotImplementedError
