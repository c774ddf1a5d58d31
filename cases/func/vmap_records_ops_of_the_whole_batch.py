"""Under `vmap` an op is recorded once, for the whole batch: the graph shows what PyTorch made of it.

topic: func
features: vmap, grad_fn, next_functions, batching rule
rule: torch.vmap
"""

import torch

batch = torch.arange(1.0, 7.0).view(3, 2).requires_grad_()
weight = torch.tensor([0.5, 2.0], requires_grad=True)
scaled = torch.vmap(lambda row: (row * weight).exp().sum())(batch)
means = torch.vmap(lambda row: row.mean() - row.max())(batch)
dots = torch.vmap(torch.dot, (0, None))(batch, weight)
tall = torch.vmap(lambda row: torch.stack([row, weight]).t())(batch)
losses = torch.vmap(lambda row: torch.nn.functional.cross_entropy(row, torch.tensor(1)))(batch)
picked = torch.vmap(lambda row, at: row[at])(batch, torch.tensor([0, 1, 1]))
(scaled.sum() + means.sum() + dots.sum() + tall.sum() + losses.sum() + picked.sum()).backward()
print(batch.grad, weight.grad)
