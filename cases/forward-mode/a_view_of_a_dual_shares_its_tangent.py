"""A view of a dual has a view of its tangent; writes to either reach the other, tangents included.

topic: forward-mode
features: dual-tensor, views, inplace
rule: torch.autograd.forward_ad
"""

import torch

fw = torch.autograd.forward_ad
x = torch.tensor([1.0, 2.0, 3.0])
t = torch.tensor([10.0, 20.0, 30.0])
level = fw.enter_dual_level()
d = fw.make_dual(x, t)
v = d[1:]
tangent = fw.unpack_dual(v).tangent
same = tangent._base is t
v.mul_(2)
after_the_view = fw.unpack_dual(d).tangent.clone()
d.mul_(3)
after_the_base = fw.unpack_dual(v).tangent.clone()
print(d, v, t)
fw.exit_dual_level()
