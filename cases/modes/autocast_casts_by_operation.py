"""In a region of autocast some operations run in bfloat16, some in float32, some in the widest type they meet,
and all others, those that write into a given tensor among them, in the type of what they get.

topic: modes
features: autocast, promotion, matmul, loss
rule: https://docs.pytorch.org/docs/stable/amp.html#cpu-op-specific-behavior
"""

import torch

x = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
w = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)
with torch.autocast("cpu"):
    lower = x @ w
    kept = lower * 2.0
    joined = torch.cat([lower, x])
    alike = torch.cat([lower, kept])
    single = lower.prod()
    loss = torch.nn.functional.mse_loss(lower, x)
    double = x.double() @ w.double()
    vectors = torch.dot(x[0], w[0])
    into = torch.mm(x, w.detach(), out=torch.empty(2, 2))
    in_place = torch.ones(2, 2).addmm_(x, w.detach())
    integers = torch.ones(2, 2, dtype=torch.int64) @ torch.ones(2, 2, dtype=torch.int64)
after = x @ w
loss.backward()
