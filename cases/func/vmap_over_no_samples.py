"""A batch of no samples has outputs of no samples, whose shapes are those that a sample would give.

topic: func
features: vmap, empty, shape, warnings
rule: torch.vmap
"""

import torch

batch = torch.ones(0, 3)
torch.vmap(lambda row: (row * 2).sum())(batch)
torch.vmap(lambda row: row[0])(batch)
torch.vmap(lambda row: print(row.shape, row.stride(), row.dtype) or row.view(3, 1))(batch)
torch.vmap(torch.dot)(batch, batch)
torch.vmap(torch.func.grad(lambda row: (row * row).sum()))(batch)
torch.vmap(lambda row: row.take(torch.tensor([0])))(batch)  # raises RuntimeError
