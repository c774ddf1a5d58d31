"""A key that is masked gets no gradient; queries that see nothing give zeros and not NaN.

topic: modules
features: attention, masks
rule: torch.nn.functional.scaled_dot_product_attention
"""

import torch

q = torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]], requires_grad=True)
k = torch.tensor([[[[1.0, 2.0], [0.5, 0.25], [4.0, 4.0]]]], requires_grad=True)
v = torch.tensor([[[[1.0], [2.0], [8.0]]]]).expand(1, 1, 3, 2).clone().requires_grad_()
mask = torch.tensor([[True, True, False], [False, False, False]])
out = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)
out.sum().backward()
masked_key = k.grad[0, 0, 2]
