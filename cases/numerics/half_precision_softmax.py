"""Half precision is rounded where PyTorch rounds it: along rows in other places than across them.

topic: numerics
features: half, softmax, log_softmax, rounding
rule: torch.nn.functional.log_softmax
"""

import torch

x = torch.tensor([[1.0, 2.0, -3.0], [0.0, 5.5, 5.0]], dtype=torch.float16, requires_grad=True)
weights = torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], dtype=torch.float16)
for dim in (0, 1):
    logs, shares = x.log_softmax(dim), x.softmax(dim)
    print(logs, shares)
    print(*torch.autograd.grad(logs, x, weights), *torch.autograd.grad(shares, x, weights))
loss = torch.nn.functional.cross_entropy(x, torch.tensor([0, 2]))
loss.backward()
