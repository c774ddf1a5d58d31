"""Hooks of one tensor run in the order of registration; one removed and registered again goes to the end.

topic: hooks
features: hooks, handle
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
first = a.register_hook(lambda g: print("first"))
second = a.register_hook(lambda g: print("second"))
third = a.register_hook(lambda g: print("third"))
first.remove()
first = a.register_hook(lambda g: print("first again"))
a.backward()
second.remove()
third.remove()
a.backward()
