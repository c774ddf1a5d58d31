"""grad returns a tuple in the order of its inputs, summed over all outputs.

topic: grad-api
features: grad, several-outputs, several-inputs
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
first = (x * w).sum()
second = (x + 10.0 * w).sum()
single = torch.autograd.grad(first, x, retain_graph=True)
both = torch.autograd.grad([first, second], [w, x])
empty = x.grad
