"""An input that forward returns as it is comes out as a view of it, made by its class's own rule.

topic: functions
features: torch-function, subclass, views
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#extending-torch-autograd
"""
import torch

class Noted(torch.Tensor):
    def __init__(self, data):
        super().__init__()
        self.inner = data

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        print(function.__name__, [kind.__name__ for kind in types])
        result = function(*[arg.inner if isinstance(arg, cls) else arg for arg in args], **(kwargs or {}))
        return cls(result) if isinstance(result, torch.Tensor) else result

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad

print(type(Same.apply(Noted(torch.ones(2)))).__name__)
