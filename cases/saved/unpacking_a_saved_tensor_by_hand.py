"""A saved input can be unpacked by hand, checked for writes; a result only by the node; data is not checked.

topic: saved
features: saved-tensors, version-counter, hooks
rule: torch.autograd.graph.saved_tensors_hooks
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
power = x * x
raw = power.grad_fn._raw_saved_self
same = raw.unpack() is x
result = x.exp().grad_fn._raw_saved_result.unpack()  # raises RuntimeError
other = (x * x).grad_fn._raw_saved_other
other.register_hooks(lambda tensor: tensor * 2.0, lambda tensor: tensor * 10.0)
hooked = other.unpack()
with torch.no_grad():
    x.add_(1.0)
kept = raw.data is x
stale = raw.unpack()  # raises RuntimeError
