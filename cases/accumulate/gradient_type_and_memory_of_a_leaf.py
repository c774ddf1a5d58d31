"""A leaf's grad_dtype decides what arrives in its grad; a gradient that somebody holds is copied, a post hook or not.

topic: accumulate
features: grad_dtype, memory, AccumulateGrad, node-hook
rule: torch.Tensor.backward
"""

import torch

x = torch.ones(2, requires_grad=True)
x.grad_dtype = torch.float64
(x * 2.0).sum().backward()
print(x.grad.dtype, x.grad)
y = torch.ones(2, requires_grad=True)
y.grad_dtype = None
(y * 2.0).sum().backward()
(y.double() * 2.0).sum().backward()
print(y.grad.dtype, y.grad)
for with_hook in (False, True):
    leaf = torch.ones(2, requires_grad=True)
    held = []
    leaf.register_hook(held.append)
    accumulator = leaf.expand_as(leaf).grad_fn.next_functions[0][0]
    if with_hook:
        accumulator.register_hook(lambda inputs, outputs: None)
    leaf.exp().sum().backward()
    print(leaf.grad.data_ptr() == held[0].data_ptr(), leaf.grad._version)

leaf = torch.ones(3, requires_grad=True)
leaf.grad = torch.ones(1).expand(3).data
leaf.sum().backward()  # raises RuntimeError
