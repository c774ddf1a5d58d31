"""index_select has another error for an index beyond the columns than for one beyond any other dimension.

topic: errors
features: index_select, error
rule: torch.index_select
"""

import torch

table = torch.ones(2, 3)
table.index_select(0, torch.tensor([5]))  # raises IndexError
table.index_select(1, torch.tensor([0, 5]))  # raises RuntimeError
table.index_select(-1, torch.tensor([-1]))  # raises RuntimeError
torch.ones(2, 2, 2).index_select(2, torch.tensor([2]))  # raises IndexError
torch.ones(2, 0).index_select(1, torch.tensor([0]))  # raises RuntimeError
nothing = torch.ones(2, 0).index_select(1, torch.tensor([], dtype=torch.long))
