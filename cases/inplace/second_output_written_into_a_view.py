"""What is written into a view may be a later output of its node; asking for one input finds the way through it.

topic: inplace
features: in-place, view, unbind, grad, output_nr
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
first, second = torch.unbind(x * 1.0)
base = torch.zeros(3)
base[1] = second
print(base.grad_fn.next_functions)
print(torch.autograd.grad(base.sum(), x, retain_graph=True)[0])
base[0].copy_(first)
print(torch.autograd.grad(base.sum(), [x, second], allow_unused=True))
