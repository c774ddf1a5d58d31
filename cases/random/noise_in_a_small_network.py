"""Data, weights and noise of two seeded steps of a small network come from one stream.

topic: random
features: rand, randn, linear, relu, mse, manual-seed
rule: torch.manual_seed
"""

import torch
import torch.nn.functional as F

torch.manual_seed(11)
x = torch.rand(4, 3)
target = torch.randn(4, 1)
w1 = (torch.randn(5, 3) * 0.5).requires_grad_()
w2 = (torch.randn(1, 5) * 0.5).requires_grad_()
for _ in range(2):
    hidden = torch.relu(F.linear(x + 0.1 * torch.randn(4, 3), w1))
    loss = F.mse_loss(F.linear(hidden, w2), target)
    loss.backward()
    with torch.no_grad():
        w1 -= 0.1 * w1.grad
        w2 -= 0.1 * w2.grad
    w1.grad = None
    w2.grad = None
