"""All rows of a Jacobian come at once: where views give them they share memory, a matrix product gives columns.

topic: func
features: func, jacrev, jacfwd, strides, expand
rule: torch.func.jacrev
"""

import torch

matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
x = torch.tensor([1.0, -1.0])
of_product = torch.func.jacrev(lambda x: matrix @ x)(x)
of_sum = torch.func.jacrev(lambda x: x.sum())(x)
of_part = torch.func.jacfwd(lambda x: x[0])(x)
of_nothing = torch.func.jacrev(lambda x: torch.ones(2))(x)
of_both = torch.func.jacrev(lambda m, x: m @ x, argnums=(0, 1))(matrix, x)
of_square = torch.func.jacrev(lambda x: x * x)(x)
in_chunks = torch.func.jacrev(lambda x: matrix @ x, chunk_size=1)(x)
