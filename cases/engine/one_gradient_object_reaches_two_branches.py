"""The addends of a sum get one gradient object, so a hook that changes it in place changes what the sibling
gets.

topic: engine
features: engine, hooks, inplace-in-hook, add
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.clone()
c = a.clone()
h = c.register_hook(lambda g: print("c gets", g.mul_(10.0)))
k = b.register_hook(lambda g: print("b gets", g))
(b + c).backward(torch.ones(2))
