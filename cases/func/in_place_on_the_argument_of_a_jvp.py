"""The function of a jvp may write to its argument, also inside of other transforms.

topic: func
features: func, jvp, vmap, in-place
rule: torch.func.jvp
source: torch/_functorch/eager_transforms.py, _jvp_with_argnums
"""

import torch
from torch.func import jacfwd, jvp, vmap

x = torch.tensor([1.0, 2.0, 3.0])
ones = torch.ones(2, 3)
print(vmap(lambda v: jvp(lambda z: z.mul_(2), (v,), (v,)))(ones.clone()))
print(vmap(lambda v: jvp(lambda z: z[0].mul_(2), (v,), (v,)))(ones.clone()))
print(vmap(lambda v, w: jvp(lambda z, y: z.copy_(y), (v, w), (v, w)))(ones.clone(), ones * 3))
print(jvp(lambda v: jvp(lambda z: z.mul_(2), (v,), (v,)), (x.clone(),), (x.clone(),)))
print(jacfwd(lambda z: z.mul_(2))(x.clone()))
