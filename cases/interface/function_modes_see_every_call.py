"""A TorchFunctionMode sees every call of its thread, factories too, the innermost mode first; inside it is
taken out.

topic: interface
features: torch-function, modes
rule: https://docs.pytorch.org/docs/stable/torch.overrides.html
"""

import torch
from torch.overrides import TorchFunctionMode, resolve_name


class Told(TorchFunctionMode):
    def __init__(self, label):
        self.label = label

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kinds = [kind.__name__ for kind in types]
        print(self.label, resolve_name(func), kinds, len(args), sorted(kwargs or {}))
        return func(*args, **(kwargs or {}))


class Zeros(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return torch.zeros(1) if func is torch.ones else func(*args, **(kwargs or {}))


x = torch.tensor([1.0, 2.0], requires_grad=True)
with Told("outer"), Told("inner"):
    y = x * 2 + torch.arange(2)
    loss = torch.nn.functional.mse_loss(y, x.detach())
    loss.backward()
    shape, item, text = x.shape, x[0], repr(x)
with Zeros():
    z = torch.ones(3)
with torch._C.DisableTorchFunction(), Told("unseen"):
    w = x + 1
u = x + 1
