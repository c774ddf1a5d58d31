"""Batched vectors are multiplied as matrices: the results are views of one product, by columns or one by one.

topic: func
features: vmap, dot, matmul, view, strides
rule: torch.vmap
"""

import torch

rows = torch.arange(6.0).view(3, 2)
matrix = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
squares = torch.vmap(torch.dot)(rows, rows)
mixed = torch.vmap(torch.dot, in_dims=(0, None))(rows, matrix[0])
moved = torch.vmap(lambda row: matrix @ row)(rows)
each = torch.vmap(torch.mv)(torch.stack([matrix, matrix * 2, -matrix]), rows)
left = torch.vmap(lambda row: row @ matrix)(rows)
moved[1].fill_(0.0)
