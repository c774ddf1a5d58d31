"""Forward over forward agrees with reverse over reverse; PyTorch's batch norm gets the former wrong.

topic: func
features: func, jvp, nested, batch-norm
rule: torch.func.jvp
"""

import torch

w = torch.tensor([[1.0], [2.0], [4.0]], dtype=torch.float64)
k = torch.tensor([[1.0], [-2.0], [0.5]], dtype=torch.float64)
norm = torch.nn.functional.batch_norm
f = lambda t: (norm(k * t + w * t * t, None, None, training=True, eps=0.25) * w).sum()
t = torch.tensor(0.5, dtype=torch.float64)
one = torch.ones_like(t)
d1 = lambda s: torch.func.jvp(f, (s,), (one,))[1]
second = torch.func.jvp(d1, (t,), (one,))[1]
