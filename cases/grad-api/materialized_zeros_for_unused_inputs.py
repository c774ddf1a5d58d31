"""materialize_grads=True returns zeros for an unused input, and conflicts with allow_unused=False.

topic: grad-api
features: grad, materialize-grads, allow-unused
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
unused = torch.tensor([[2.0, 3.0]], requires_grad=True)
y = x * 2.0
g = torch.autograd.grad(y, [x, unused], materialize_grads=True, retain_graph=True)
h = torch.autograd.grad(y, [x, unused], materialize_grads=True, create_graph=True)
torch.autograd.grad(y, unused, allow_unused=False, materialize_grads=True)  # raises argument
