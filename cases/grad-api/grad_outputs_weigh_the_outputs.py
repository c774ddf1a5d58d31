"""grad_outputs gives one gradient per output; None stands for one, and only for scalars.

topic: grad-api
features: grad, grad-outputs
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
vector = x * 3.0
scalar = x.sum()
g = torch.autograd.grad([vector, scalar], x, [torch.tensor([1.0, 10.0]), None], retain_graph=True)
torch.autograd.grad([vector, scalar], x, [None, None], retain_graph=True)  # raises not-scalar
torch.autograd.grad([vector, scalar], x, [torch.ones(2)], retain_graph=True)  # raises gradient-mismatch
torch.autograd.grad(vector, x, torch.ones(3))  # raises gradient-mismatch
