"""A view made under no_grad claims to require grad, but what is computed from it reaches neither the view
nor its base.

topic: modes
features: no-grad, view, grad-none
rule: https://docs.pytorch.org/docs/stable/tensor_view.html
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    view = x[:1]
y = (view * 5.0).sum()
edge = y.grad_fn.next_functions[0][0].next_functions[0]
y.backward()
