"""A place without dimensions selects one slice of each sample, under vmap as without it.

topic: func
features: func, vmap, index_select
rule: torch.func.vmap
source: found by running PyTorch's op table under vmap
"""

import torch

x = torch.arange(6.0).reshape(2, 3)
alone = x[0].index_select(0, torch.tensor(1))
joined = torch.vmap(lambda row: torch.cat([row[:0], row]))(x)
windows = torch.vmap(lambda number: number.unfold(0, 1, 1))(x[:, 0])
larger = torch.vmap(lambda row: row.clone().resize_(1, 3))(x)
chosen = torch.vmap(lambda row: row.index_select(0, torch.tensor(1)))(x)
