"""A view taken after backward does not show its part of the base's grad; slicing the grad does.

topic: accumulate
features: view, leaf, grad, warning
rule: torch.Tensor.grad
source: R109, rsokl/MyGrad#361
"""

import torch

base = torch.arange(4.0).requires_grad_()
(base**2).sum().backward()
view = base[-2:]
of_view = view.grad
part = base.grad[-2:]
