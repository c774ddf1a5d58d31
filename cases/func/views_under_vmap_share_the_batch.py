"""A view taken of every sample is a view of the whole batch: nothing is copied, and a write shows.

topic: func
features: vmap, view, shares, strides
rule: torch.vmap
"""

import torch

batch = torch.arange(6.0).view(3, 2)
tails = torch.vmap(lambda row: row[1:])(batch)
repeated = torch.vmap(lambda row: row.expand(2, 2), out_dims=1)(batch)
first, second = torch.vmap(lambda row: row.unbind())(batch)
columns = torch.vmap(lambda column: column.view(3, 1).t(), in_dims=1)(batch)
tails.fill_(9.0)
flipped = torch.vmap(lambda row: row.flip(0))(batch)
