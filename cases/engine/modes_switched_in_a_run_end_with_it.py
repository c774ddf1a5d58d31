"""A mode that a hook switches on and does not switch off holds for its node alone; the caller has its own back.

topic: engine
features: hooks, modes, saved-tensor hooks, backward
rule: torch.Tensor.backward
source: probed on torch 2.13.0
"""

import torch
from torch.autograd.graph import saved_tensors_hooks

packed = []
a = torch.ones(1, requires_grad=True)

def enter(grad):
    saved_tensors_hooks(lambda x: packed.append(grad) or x, lambda x: x).__enter__()

handle = a.register_hook(enter)
(a * 2.0).backward()
product = a * a
print(packed)
handle.remove()

def switch(grad):
    torch.autograd._force_original_view_tracking(True).__enter__()
    torch.autograd.graph.disable_saved_tensors_hooks("off").__enter__()

b = a * 2.0
b.register_hook(switch)
b.sum().backward()
with saved_tensors_hooks(lambda x: x, lambda x: x):
    kept = a * a
kept.grad_fn.name()
