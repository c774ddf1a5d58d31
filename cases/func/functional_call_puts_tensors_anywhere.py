"""functional_call puts tensors where a module holds parameters, buffers or plain attributes, and takes out what the
call left there.

topic: func
features: func, functional_call, modules, buffers, tied weights
rule: torch.func.functional_call
source: probed on torch 2.13.0
"""

import torch
from torch import nn
from torch.func import functional_call

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = torch.ones(2)
        self.a = nn.Parameter(torch.ones(2))
        self.b = self.a
        self.count = 3
        self.register_buffer("seen", torch.ones(2))

    def forward(self, x):
        self.seen = self.seen + x
        return self.plain * self.a * self.b * x

module = Scaled()
x = torch.tensor([1.0, 2.0])
functional_call(module, {"plain": torch.zeros(2)}, x)
functional_call(nn.Sequential(module), {"0.plain": torch.zeros(2)}, x)
module.plain
for given in (
    {"a": torch.zeros(2)}, {"b": torch.zeros(2)}, {"a": torch.zeros(2), "b": torch.ones(2)}, {"a": 3}, {"other": 3},
    {"other": torch.ones(2)}, {"forward": torch.ones(2)}, {"count": torch.ones(1)}, {"x.y": torch.ones(1)}, [1],
):
    try:
        print(functional_call(module, given, x))
    except Exception as error:
        print(type(error).__name__, str(error).split("<bound")[0])
print(hasattr(module, "other"))
buffers = {"seen": torch.zeros(2)}
functional_call(module, buffers, x)
print(buffers, module.seen)
torch.func.grad(lambda x: nn.BatchNorm1d(2)(x).sum() * 0)(torch.ones(3, 2))
