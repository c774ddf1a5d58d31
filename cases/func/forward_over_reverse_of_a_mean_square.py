"""The derivative of a gradient of a mean squared error is taken forward; PyTorch writes to zeros without memory.

topic: func
features: func, jvp, grad, mse-loss, torch-bug
rule: torch.func.jvp
"""

import torch

target = torch.tensor([0.5, -1.0])
x = torch.tensor([1.0, 2.0])
mean = lambda v: torch.nn.functional.mse_loss(v, target)
total = lambda v: torch.nn.functional.mse_loss(v, target, reduction="sum")
direction = torch.tensor([1.0, 0.5])
of_sum = torch.func.jvp(torch.func.grad(total), (x,), (direction,))[1]
reverse = torch.func.vjp(torch.func.grad(mean), x)[1](direction)[0]
forward = torch.func.jvp(torch.func.grad(mean), (x,), (direction,))[1]  # raises RuntimeError
