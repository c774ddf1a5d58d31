"""Hooks on a subclass's tensor get plain gradients; during `backward` of a subclass's tensor
`__torch_function__` is switched off for them.

topic: hooks
features: subclass, torch-function, retain_grad
rule: torch.overrides
"""

import torch


class Named(torch.Tensor):
    pass


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.as_subclass(Named) * 3
y.retain_grad()
h = y.register_hook(lambda grad: print(type(grad).__name__, torch._C._is_torch_function_enabled()))
y.sum().backward(retain_graph=True)
y.as_subclass(torch.Tensor).sum().backward()
print(type(y.grad).__name__, type(x.grad).__name__)
leaf = Named([1.0]).requires_grad_()
h2 = leaf.register_post_accumulate_grad_hook(lambda leaf: print(type(leaf), type(leaf.grad)))
(leaf * 2).sum().backward()
(grad,) = torch.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
print(type(grad).__name__, grad.grad_fn.name())
