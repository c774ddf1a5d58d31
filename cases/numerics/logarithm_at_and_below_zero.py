"""log has slope infinity at zero, a negative slope below with a NaN value, and log1p follows one step to the
left.

topic: numerics
features: log, infinity, nan, log1p
rule: torch.log
"""

import torch

x = torch.tensor([0.0, -0.0, -1.0, 2.0], requires_grad=True)
y = x.log()
y.sum().backward()
z = torch.tensor([-1.0, 0.0, -2.0], requires_grad=True)
w = z.log1p()
w.sum().backward()
