"""backward called on a leaf runs its hook once and stores a copy of the given gradient, not the same memory.

topic: hooks
features: hooks, leaf, gradient-argument, accumulate
rule: torch.Tensor.backward
source: R059, candle-org/candle#363
"""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
h = w.register_hook(lambda g: print("hook", g))
given = torch.tensor([3.0, 4.0])
w.backward(given)
shared = w.grad.data_ptr() == given.data_ptr()
w.grad.mul_(10.0)
