"""What a tensor has can be read; setting or deleting it is refused, each with its own words; `_grad_fn = None` detaches.

topic: leaf
features: attributes, errors, detach
rule: torch.Tensor
"""
import torch

x = torch.ones(2, 2, requires_grad=True)
y = x * 2
for name in ("shape", "T", "nbytes", "is_cuda", "grad_fn", "is_leaf", "_version", "name", "retains_grad"):
    for change in (delattr, lambda tensor, name: setattr(tensor, name, None)):
        try:
            change(y, name)
        except AttributeError as error:
            print(error)
del x.grad
del y.data  # raises RuntimeError
del y.requires_grad  # raises RuntimeError
del y._grad_fn  # raises RuntimeError
del y._backward_hooks  # raises RuntimeError
print(y._grad_fn is y.grad_fn)
y._grad_fn = x  # raises RuntimeError
y._grad_fn = None
x[0]._grad_fn = None  # raises RuntimeError
