"""A strict functional_call names what is unknown and what is missing, sorted; a parameter that is None is neither.

topic: func
features: func, functional_call, strict, error
rule: torch.func.functional_call
"""

import torch

layer = torch.nn.Linear(2, 1, bias=False)
norm = torch.nn.BatchNorm1d(2, track_running_stats=False)
x = torch.ones(2, 2)
call = torch.func.functional_call
call(layer, {"scale": torch.ones(1)}, (x,), strict=True)  # raises RuntimeError
call(layer, {"bias": torch.ones(1)}, (x,), strict=True)  # raises RuntimeError
call(norm, {"zoom": torch.ones(2), "alpha": torch.ones(2)}, (x,), strict=True)  # raises RuntimeError
right = call(layer, {"weight": torch.tensor([[1.0, 2.0]])}, (x,), strict=True)
