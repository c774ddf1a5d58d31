"""A leaf is a tensor without a node: made by the user, made without grad, or detached; a result that
requires grad is none.

topic: leaf
features: leaf, requires-grad
rule: torch.Tensor.is_leaf
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
plain = torch.tensor([1.0, 2.0])
flags = [x.is_leaf, plain.is_leaf, (plain * 2.0).is_leaf, (x * 2.0).is_leaf, x.detach().is_leaf]
moved = torch.ones(2, requires_grad=True).double()
asked = torch.ones(2).double().requires_grad_()
