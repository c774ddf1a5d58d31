"""The gradient of softmax at an entry masked by minus infinity is a zero, with the sign that its formula gives.

topic: numerics
features: softmax, infinity, signed-zero
rule: torch.softmax
"""

import torch

x = torch.tensor([[0.0, float("-inf")]], requires_grad=True)
first = torch.autograd.grad(torch.softmax(x, -1)[0, 0], x)
masked = torch.autograd.grad(torch.softmax(x, -1)[0, 1], x)
loss = torch.nn.functional.cross_entropy(x, torch.tensor([1]))
loss.backward()
