"""The hook of an unbind output that the loss does not use is called all the same, with None.

topic: hooks
features: hooks, unbind, multi-view
rule: torch.Tensor.register_hook
source: R049, pytorch/pytorch#11751
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
first, second = a.unbind()
h0 = first.register_hook(lambda g: print("first", g))
h1 = second.register_hook(lambda g: print("second", g))
second.backward()
