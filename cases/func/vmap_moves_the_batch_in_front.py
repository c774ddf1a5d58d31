"""A batch along another dimension stays there for ops of one tensor, and is moved in front by the others.

topic: func
features: vmap, in_dims, out_dims, strides, grad_fn
rule: torch.vmap
"""

import torch

batch = torch.arange(1.0, 7.0).view(2, 3).requires_grad_()
alone = torch.vmap(torch.exp, in_dims=1)(batch)
with_number = torch.vmap(lambda column: column * 2, in_dims=1)(batch)
back = torch.vmap(torch.exp, in_dims=1, out_dims=1)(batch)
summed = torch.vmap(lambda column: column.sum(0), in_dims=1)(batch)
viewed = torch.vmap(lambda column: column.unsqueeze(-1), in_dims=1)(batch)
two_levels = torch.vmap(torch.vmap(lambda element: element.sin() * element))(batch)
same_for_all = torch.vmap(lambda column: torch.ones(2), in_dims=1)(batch)
