"""index_add and index_reduce refuse, in this order, a wrong number of indices, shapes that do not fit, an
index beyond the end.

topic: errors
features: index_add, index_reduce, error
rule: torch.Tensor.index_add
"""

import torch

vector, table = torch.zeros(3), torch.zeros(2, 3)
one, two = torch.tensor([0]), torch.tensor([0, 1])
table.index_add(0, one, torch.ones(2, 2))  # raises RuntimeError
table.index_add(0, two, torch.ones(2, 2))  # raises RuntimeError
vector.index_add(0, one, torch.tensor(1.0))  # raises RuntimeError
vector.index_add(0, torch.tensor([7]), torch.ones(1))  # raises IndexError
table.index_add(1, torch.tensor([7]), torch.ones(2, 1))  # raises RuntimeError
table.index_reduce(0, torch.tensor([-1]), torch.ones(1, 3), "amax")  # raises IndexError
table.index_reduce(0, one, torch.ones(1, 3), "sum")  # raises RuntimeError
nothing = torch.zeros(2, 0).index_add(0, torch.tensor([7]), torch.ones(1, 0))
