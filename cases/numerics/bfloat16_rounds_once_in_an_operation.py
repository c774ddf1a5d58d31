"""An operation on bfloat16 computes in float32 and rounds once; an expression of several rounds after each.

topic: numerics
features: bfloat16, rounding, sum, matmul
rule: https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html
"""

import torch

x = torch.tensor([1.0, 3.0, 0.0078125, 100.0], dtype=torch.bfloat16, requires_grad=True)
weights = torch.tensor([0.1, -2.5, 7.0, 0.375], dtype=torch.bfloat16)
in_one = torch.addcmul(x, x, weights)
in_two = x + x * weights
many = torch.full((1000,), 0.1, dtype=torch.bfloat16)
total, running = many.sum(), many.cumsum(0)[-1]
product = weights @ x
shares = x.softmax(0)
(in_one.sum() + product).backward()
print(in_one, in_two, total, running, product, shares, x.grad, sep="\n")
