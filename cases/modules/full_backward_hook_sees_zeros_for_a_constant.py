"""The full backward hook of a product sees the constant's entry of grad_input filled in, not None.

topic: modules
features: module-hooks, full-backward-hook
rule: torch.nn.Module.register_full_backward_hook
source: R069, pytorch/pytorch#57944
"""

import torch


class Product(torch.nn.Module):
    def forward(self, a, b):
        return a * b


product = Product()
h = product.register_full_backward_hook(lambda module, gi, go: print(gi, go))
constant = torch.tensor([3.0])
leaf = torch.tensor([5.0], requires_grad=True)
product(constant, leaf).backward()
