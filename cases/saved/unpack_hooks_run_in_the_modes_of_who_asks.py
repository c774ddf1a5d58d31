"""A pack hook runs with grad mode off; an unpack hook runs in the grad mode, and with the hooks, of who asks.

topic: saved
features: saved-tensor hooks, grad mode, create_graph
rule: torch.autograd.graph.saved_tensors_hooks
source: probed on torch 2.13.0
"""

import torch
from torch.autograd.graph import saved_tensors_hooks

a = torch.ones(2, requires_grad=True)
seen = []

def pack(x):
    seen.append(("pack", torch.is_grad_enabled()))
    return x

def unpack(x):
    seen.append(("unpack", torch.is_grad_enabled()))
    return x

with saved_tensors_hooks(pack, unpack):
    y = a * a
y.grad_fn._saved_self
g = torch.autograd.grad(y.sum(), a, create_graph=True)
y.sum().backward()
print(seen)
packed = []

def multiply(x):
    x * x
    return x

with saved_tensors_hooks(lambda x: x, multiply):
    y = a * a
with saved_tensors_hooks(lambda x: packed.append(1) or x, lambda x: x):
    g = torch.autograd.grad(y.sum(), a, create_graph=True)
print(len(packed))
