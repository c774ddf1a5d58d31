"""A product saves only what a wanted gradient needs: with a constant factor the other one is None.

topic: saved
features: saved-tensors, mul, guard
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([2.0], requires_grad=True)
k = torch.tensor([5.0])
product = x * k
of_x = product.grad_fn._saved_self
of_k = product.grad_fn._saved_other
x_and_x = x * x
both = (x_and_x.grad_fn._saved_self, x_and_x.grad_fn._saved_other)
