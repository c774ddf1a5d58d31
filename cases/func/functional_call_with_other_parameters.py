"""A module is called with other tensors in the place of its parameters.

topic: func
features: func, modules
rule: torch.func.functional_call
"""

import torch

torch.manual_seed(0)
m = torch.nn.Linear(2, 1)
p = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
y = torch.func.functional_call(m, p, torch.ones(3, 2))
g = torch.func.grad(lambda q: torch.func.functional_call(m, q, torch.ones(2, 2)).sum())(p)
torch.func.functional_call(m, {"weight": torch.ones(1, 2)}, torch.ones(2), strict=True)  # raises RuntimeError
stacked, buffers = torch.func.stack_module_state([m, torch.nn.Linear(2, 1)])
