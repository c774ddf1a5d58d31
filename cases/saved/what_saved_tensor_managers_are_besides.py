"""The hooks of saved_tensors_hooks can be read and changed before its block; two of the managers of saved
tensors decorate functions too.

topic: saved
features: saved-tensors-hooks, decorator, error
rule: torch.autograd.graph.saved_tensors_hooks
"""

import torch
from torch.autograd.graph import allow_mutation_on_saved_tensors, disable_saved_tensors_hooks

manager = torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t)
manager.pack_hook = lambda t: t * 3
x = torch.ones(2, requires_grad=True)
with manager:
    y = x * x
print(y.grad_fn._saved_self, manager.unpack_hook(5))


@disable_saved_tensors_hooks("not here")
def refusing(depth):
    print(torch._C._autograd._saved_tensors_hooks_is_enabled())
    if depth:
        refusing(depth - 1)
    with manager:
        pass


@allow_mutation_on_saved_tensors()
def changed(x):
    y = x.clone()
    z = y * y
    y.zero_()
    z.sum().backward()


refusing(1)  # raises RuntimeError
print(torch._C._autograd._saved_tensors_hooks_is_enabled())
changed(x)
