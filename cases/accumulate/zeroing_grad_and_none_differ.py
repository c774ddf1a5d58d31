"""zero_ keeps the grad tensor and its memory; None lets the next pass bring a new one.

topic: accumulate
features: accumulate, grad-none, zero
rule: torch.optim.Optimizer.zero_grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * 2.0).sum().backward()
g = x.grad
x.grad.zero_()
(x * 3.0).sum().backward()
same = x.grad is g
x.grad = None
(x * 4.0).sum().backward()
other = x.grad is not g
