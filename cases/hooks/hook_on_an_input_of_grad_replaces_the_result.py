"""A hook on the input of autograd.grad fires, and the gradient it returns is the gradient the call returns.

topic: hooks
features: hooks, grad, retain-graph
rule: torch.autograd.grad, torch.Tensor.register_hook
source: R051, pytorch/pytorch#35802
"""

import torch

x = torch.tensor([2.0], requires_grad=True)


def times_ten(g):
    print("seen", g)
    return g * 10.0


h = x.register_hook(times_ten)
out = (5.0 * x).sum()
g = torch.autograd.grad(out, x, retain_graph=True)[0]
out.backward()
