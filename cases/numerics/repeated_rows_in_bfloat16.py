"""What several uses of a row send to it is added in bfloat16 one by one, but for scatter_add and index_add,
which round once.

topic: numerics
features: bfloat16, rounding, repeated-index, embedding
rule: torch.nn.functional.embedding
"""

import torch

table = torch.zeros(3, 1, dtype=torch.bfloat16, requires_grad=True)
places = torch.tensor([1] * 12)
parts = torch.tensor([[1.0]] + [[0.0035]] * 11, dtype=torch.bfloat16)
looked_up = torch.nn.functional.embedding(places, table)
(one_by_one,) = torch.autograd.grad(looked_up, table, parts)
(indexed,) = torch.autograd.grad(table[places], table, parts)
together = torch.zeros(3, 1, dtype=torch.bfloat16).scatter_add(0, places[:, None], parts)
added = torch.zeros(3, 1, dtype=torch.bfloat16).index_add(0, places, parts)
put = torch.zeros(3, 1, dtype=torch.bfloat16).index_put((places,), parts, accumulate=True)
print(one_by_one, indexed, together, added, put)
