"""A node shows what it saved under the names of its formula: factors, exponent, result.

topic: saved
features: saved-tensors, mul, pow, grad-fn
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
"""

import torch

x = torch.tensor([2.0, 3.0], requires_grad=True)
w = torch.tensor([5.0, 7.0], requires_grad=True)
product = x * w
factors = (product.grad_fn._saved_self, product.grad_fn._saved_other)
same = product.grad_fn._saved_self is x
power = x**3
exponent = power.grad_fn._saved_exponent
exponential = x.exp()
result = exponential.grad_fn._saved_result
apart = result is not exponential
