"""A hook handle used in a with statement removes its hook at the end of the block.

topic: hooks
features: hooks, handle
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
with a.register_hook(lambda g: print("inside", g)) as handle:
    (a * 2.0).backward()
(a * 2.0).backward()
handle.remove()
