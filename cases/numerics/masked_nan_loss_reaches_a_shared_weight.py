"""masked_fill over a NaN loss still sends zero times NaN into the shared weight; leaving the row out does
not.

topic: numerics
features: masked-fill, isnan, matmul, nan
rule: torch.Tensor.masked_fill
source: R137, pytorch/pytorch#23156
"""

import torch

x = torch.tensor([[1.0, 2.0], [float("nan"), 1.0]])
w = torch.tensor([1.0, 1.0], requires_grad=True)
loss = x @ w
kept = loss.masked_fill(torch.isnan(loss), 0.0)
kept.sum().backward()
g = torch.autograd.grad((x @ w)[:1].sum(), w)[0]
