"""With out= no operand may require grad, those in a list neither; indices need an output of their type.

topic: errors
features: out, requires-grad, dtype
rule: torch.cat
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
m = torch.tensor([[1.0, 2.0], [4.0, 3.0]])
torch.stack([x, x], out=torch.empty(2, 2))  # raises RuntimeError
torch.hstack([m[0], x], out=torch.empty(4))  # raises RuntimeError
with torch.no_grad():
    stacked = torch.stack([x, x], out=torch.empty(2, 2))
torch.max(m, 0, out=(torch.empty(2), torch.empty(2)))  # raises RuntimeError
torch.sort(m, out=(torch.empty(2, 2, dtype=torch.float64), torch.empty(2, 2, dtype=torch.int64)))  # raises RuntimeError
torch.zeros(3).copy_(torch.ones(4))  # raises RuntimeError
torch.zeros(2, 1).copy_(torch.ones(3))  # raises RuntimeError
