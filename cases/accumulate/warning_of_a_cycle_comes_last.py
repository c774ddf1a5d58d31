"""The warning that create_graph makes a cycle comes out when the call ends: hooks have warned by then.

topic: accumulate
features: create_graph, warnings, hooks
rule: torch.Tensor.backward
"""

import warnings

import torch


def hook(gradient):
    warnings.warn("a hook runs", stacklevel=2)


x = torch.tensor([1.0, 2.0], requires_grad=True)
handle = x.register_hook(hook)
(x * x).sum().backward(create_graph=True)
x.grad.sum().backward()
