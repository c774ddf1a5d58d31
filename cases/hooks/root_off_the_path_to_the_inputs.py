"""Tensor hooks of a lone root run even where nothing leads from it to the inputs; among several roots they do not.

topic: hooks
features: tensor-hook, retain-grad, grad-api, allow-unused
rule: torch.autograd.grad
"""

import torch

seen = []
a = torch.tensor([2.0], requires_grad=True)
other = torch.tensor([5.0], requires_grad=True)
b = a * 3.0
b.register_hook(lambda g: seen.append(("b", g.item())))
b.grad_fn.register_prehook(lambda g: seen.append("node of b"))
b.retain_grad()
(unused,) = torch.autograd.grad(b, other, allow_unused=True)
b.backward(inputs=[other])
torch.autograd.grad(b, other)  # raises RuntimeError
pair = torch.autograd.grad([b, other * 2.0], other)
