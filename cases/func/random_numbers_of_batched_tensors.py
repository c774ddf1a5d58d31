"""vmap refuses random numbers drawn for batched tensors, too, unless randomness says how to draw them.

topic: func
features: func, vmap, random
rule: torch.func.vmap
source: documentation of torch.func.vmap, randomness
"""

import torch
import torch.nn.functional as F
from torch.func import grad, vmap

xs = torch.tensor([[0.25, 0.5], [0.75, 1.0]])
vmap(torch.bernoulli)(xs)  # raises RuntimeError
vmap(lambda x: x.clone().normal_())(xs)  # raises RuntimeError
vmap(torch.rand_like)(xs)  # raises RuntimeError
vmap(F.dropout)(xs)  # raises RuntimeError
vmap(grad(lambda x: (x * torch.bernoulli(x)).sum()))(xs)  # raises RuntimeError
torch.manual_seed(0)
drawn = vmap(torch.bernoulli, randomness="different")(xs)
