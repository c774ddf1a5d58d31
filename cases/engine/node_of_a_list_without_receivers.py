"""A node over a list of tensors makes no gradient at all when none of them can receive one.

topic: engine
features: cat, stack, no-grad-view, node-hook
rule: torch.autograd.graph.Node.register_hook
source: generated
"""

import torch

row = torch.tensor([1.0, 2.0])
leaf = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
with torch.no_grad():
    view = leaf[0]
joined = torch.cat([view, row])
joined.grad_fn.register_hook(lambda grad_inputs, grad_outputs: print(grad_inputs))
print(view.requires_grad, joined.grad_fn.next_functions)
torch.autograd.backward(joined, torch.ones(4))
piled = torch.stack([leaf[0], row])
piled.grad_fn.register_hook(lambda grad_inputs, grad_outputs: print(grad_inputs))
torch.autograd.backward(piled, torch.ones(2, 2))
