"""A jvp turns forward mode on; where the function turns it off, what it computes stands still.

topic: func
features: func, jvp, jacfwd, forward-mode
rule: torch.func.jvp
source: torch/_functorch/eager_transforms.py, _jvp_with_argnums
"""

import torch
from torch.autograd.forward_ad import _set_fwd_grad_enabled
from torch.func import jacfwd, jvp

x = torch.tensor([0.5, 1.0])


def still(v):
    with _set_fwd_grad_enabled(False):
        return v.sin()


with _set_fwd_grad_enabled(False):
    a, b = jvp(torch.sin, (x,), (x,))
    c = jacfwd(torch.sin)(x)
d, e = jvp(lambda v: still(v) * v, (x,), (x,))
f = jacfwd(still)(x)
g = torch.vmap(lambda v: jvp(still, (v,), (v,)))(x)
jvp(lambda v: torch.ones(2), (x,), (x,), strict=True)  # raises RuntimeError
jvp(still, (x,), (x,), strict=True)  # raises RuntimeError
h, i = jvp(lambda v: v * 2, (x,), (x,), strict=True)
with torch.no_grad():
    jvp(lambda v: print(torch.is_grad_enabled()) or v, (x,), (x,))
