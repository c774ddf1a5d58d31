"""torch.autograd.backward takes several roots with a gradient each; too few gradients are refused, surplus
ones dropped.

topic: grad-api
features: backward, several-roots, grad-tensors
rule: torch.autograd.backward
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
first = x * 2.0
second = x.sum()
torch.autograd.backward([first, second], [torch.tensor([1.0, 10.0]), None], retain_graph=True)
torch.autograd.backward([first, second], [torch.ones(2)])  # raises gradient-mismatch
torch.autograd.backward([second], [torch.tensor(1.0), torch.ones(7)])
