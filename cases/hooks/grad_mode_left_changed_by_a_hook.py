"""A hook that leaves grad mode changed does not change it for the nodes and hooks after it, nor for the caller.

topic: hooks
features: grad-mode, set_grad_enabled
rule: torch.Tensor.register_hook
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
z = y * y
y.register_hook(lambda g: print("y", torch.is_grad_enabled()))
z.register_hook(lambda g: print("z", torch.is_grad_enabled(), torch.set_grad_enabled(True)) and None)
x.register_hook(lambda g: print("x", torch.is_grad_enabled(), g.requires_grad))
z.sum().backward(retain_graph=True)
print(torch.is_grad_enabled(), x.grad.requires_grad)
y.register_hook(lambda g: print("off", torch.set_grad_enabled(False)) and None)
z.sum().backward(create_graph=True)
print(torch.is_grad_enabled(), x.grad.requires_grad)
