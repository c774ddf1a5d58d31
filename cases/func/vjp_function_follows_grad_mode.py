"""The function that vjp returns records its gradients as grad mode has it, and frees its graph if asked to.

topic: func
features: func, vjp, no-grad, retain-graph
rule: torch.func.vjp
source: torch/_functorch/eager_transforms.py, _vjp_with_argnums
"""

import torch
from torch.func import vjp

x = torch.tensor([0.5, 1.0], requires_grad=True)
v = torch.tensor([1.0, 2.0])
_, pull = vjp(torch.sin, x)
(a,) = pull(v)
with torch.no_grad():
    (b,) = pull(v)
    (c,) = pull(v, create_graph=True)
(d,) = pull(v, create_graph=False)
(e,) = pull(v, retain_graph=False)
pull(v)  # raises RuntimeError
with torch.no_grad():
    _, again = vjp(torch.sin, x)
(f,) = again(v)
