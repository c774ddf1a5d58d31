"""A write to the diagonal view changes the matrix, and the gradient of the overwritten elements is zero.

topic: views
features: view, diagonal, inplace
rule: torch.diagonal
"""

import torch

x = torch.ones(2, 2, 2, requires_grad=True)
batch = x * 3.0
diagonal = batch.diagonal(dim1=1, dim2=2)
diagonal.zero_()
(batch * torch.arange(8.0).view(2, 2, 2)).sum().backward()
