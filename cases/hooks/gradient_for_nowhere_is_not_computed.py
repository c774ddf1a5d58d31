"""A view that became tracked with its base has no edge of its own: no gradient is computed for it, hooks see None.

topic: hooks
features: node hook, view, no_grad, requires_grad_, undefined gradient
rule: torch.autograd.graph.Node.register_hook
"""

import torch

base = torch.tensor([3.0, 0.0, 2.0])
first = base[0]
base.requires_grad_()
total = first + torch.ones(3)
total.grad_fn.next_functions
total.grad_fn.register_hook(lambda grad_inputs, grad_outputs: print(grad_inputs))
total.sum().backward()
with torch.no_grad():
    column = base.view(3, 1)
copy = column.clone()
copy.grad_fn.register_hook(lambda grad_inputs, grad_outputs: print(grad_inputs))
copy.backward(torch.ones(3, 1))
base.grad
