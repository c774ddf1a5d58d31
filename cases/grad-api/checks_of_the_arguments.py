"""Roots without grad, things that are no tensors, and an empty list of inputs are refused.

topic: grad-api
features: grad, error, no-grad, argument
rule: torch.autograd.grad
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
plain = torch.tensor([1.0])
torch.autograd.grad(plain, x)  # raises no-grad
torch.autograd.grad(x * 2.0, plain)  # raises no-grad
torch.autograd.grad(x * 2.0, [])  # raises RuntimeError
torch.autograd.grad(x * 2.0, None)  # raises TypeError
torch.autograd.grad(x * 2.0, [3])  # raises RuntimeError
torch.autograd.backward([x * 2.0, plain])  # raises no-grad
