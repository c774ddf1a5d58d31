"""float16 sums are held in float32 inside, and the result overflows only when it does not fit.

topic: numerics
features: float16, sum, mean, overflow
rule: https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html
"""

import torch

x = torch.full((2304,), 1.0, dtype=torch.float16, requires_grad=True)
total = x.sum()
average = x.mean()
average.backward()
first = x.grad[0]
large = torch.tensor([60000.0, 60000.0], dtype=torch.float16)
overflow = large.sum()
inside = large.sum(dtype=torch.float32)
