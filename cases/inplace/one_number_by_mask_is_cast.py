"""One number assigned by one mask is a fill, which casts the number and may read from the written memory;
an index list, several masks or several values need the target's type, once shapes fit.

topic: inplace
features: inplace, index-put, mask, dtype, error
rule: torch.Tensor.index_put_
"""

import torch

mask = torch.tensor([True, False, True])
double = torch.tensor(2.0, dtype=torch.double)
c = torch.zeros(3)
c[mask] = double
c[[False, True, False]] = torch.tensor([7])
c[mask] = torch.tensor(2 + 1j)  # raises dtype
rows = torch.zeros(2, 3)
rows[:, mask] = double
rows[0, mask] = torch.tensor(True)
rows[torch.tensor([False, True])] = rows[0, 0]
put = torch.zeros(3).index_put((mask,), double)
torch.zeros(3).index_put_((mask,), double, accumulate=True)  # raises RuntimeError
rows[torch.tensor([True, False]), mask] = double  # raises RuntimeError
value = torch.tensor([2.0], dtype=torch.double, requires_grad=True)
followed = torch.zeros(2, 3)
followed[:, mask] = value
followed.sum().backward()
flags = torch.zeros(3, dtype=torch.bool)
flags[flags] = True
rows[torch.tensor([True, False, True])] = double  # raises IndexError
rows[torch.tensor([0, 1])] = torch.ones(2, dtype=torch.double)  # raises RuntimeError
rows[torch.tensor([0, 1])] = torch.ones(3, dtype=torch.double)  # raises RuntimeError
