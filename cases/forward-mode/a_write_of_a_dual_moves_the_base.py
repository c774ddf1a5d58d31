"""A dual written into a view of a plain tensor gives the whole tensor a tangent, zero elsewhere.

topic: forward-mode
features: dual-tensor, inplace, views
rule: torch.autograd.forward_ad
"""

import torch

fw = torch.autograd.forward_ad
q = torch.tensor([1.0, 2.0, 3.0])
w = q[:1]
with fw.dual_level():
    w.copy_(fw.make_dual(torch.tensor([5.0]), torch.tensor([7.0])))
    print(q, w)
    q[2] = fw.make_dual(torch.tensor(4.0), torch.tensor(9.0))
    print(q)
    w.zero_()
    print(q, w)
print(q, w)
