"""Squares beyond the range of float32 make the variance infinite, and what is normalised by it zero.

topic: numerics
features: layer_norm, batch_norm, overflow
rule: torch.nn.functional.layer_norm
"""

import torch

x = torch.tensor([[3e19, -3e19, 1.0, 2.0]], requires_grad=True)
y = torch.nn.functional.layer_norm(x, (4,)).abs()
y.backward(torch.tensor([[1.0, 2.0, 3.0, 4.0]]))
z = torch.nn.functional.batch_norm(x.detach().t(), None, None, training=True)
held = torch.nn.functional.layer_norm(x.detach() * 0.1, (4,))
