"""Of several classes with a `__torch_function__`, subclasses are asked before their bases, else from left to
right; if all return NotImplemented, the call is refused.

topic: interface
features: subclass, torch-function, error
rule: https://docs.pytorch.org/docs/stable/torch.overrides.html#torch.overrides.handle_torch_function
"""

import torch


class First(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("asked", cls.__name__, [kind.__name__ for kind in types])
        return NotImplemented


class Second(First):
    pass


class Apart:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print("asked", cls.__name__, [kind.__name__ for kind in types])
        return func.__name__ if func.__name__ in ("mul", "where") else NotImplemented


a, b, c = torch.ones(2).as_subclass(First), torch.ones(2).as_subclass(Second), Apart()
torch.stack([a, b])  # raises TypeError
torch.where(a, c, b)
torch.ones(2) * c
a + b  # raises TypeError
2 - b  # raises TypeError
a.shape  # raises TypeError
a.split(1)  # raises TypeError
torch.nn.functional.softmax(a, 0)  # raises TypeError
torch.nn.functional.linear(c, a)  # raises TypeError
torch.add(c, "text")  # raises TypeError
