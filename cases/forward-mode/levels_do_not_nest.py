"""One level at a time; when it ends, tangents are gone, and a new level does not bring them back.

topic: forward-mode
features: dual-tensor, error
rule: torch.autograd.forward_ad.dual_level
"""

import torch

fw = torch.autograd.forward_ad
outside = fw.make_dual(torch.tensor(1.0), torch.tensor(1.0))  # raises RuntimeError
first = fw.enter_dual_level()
second = fw.enter_dual_level()  # raises RuntimeError
d = fw.make_dual(torch.tensor(1.0), torch.tensor(2.0))
twice = fw.make_dual(d, torch.tensor(1.0))  # raises RuntimeError
wrong = fw.make_dual(torch.tensor([1.0]), torch.tensor(1.0))  # raises RuntimeError
o = d * 3
print(o)
fw.exit_dual_level()
third = fw.exit_dual_level()  # raises RuntimeError
print(o, fw.unpack_dual(o))
again = fw.enter_dual_level()
gone = fw.unpack_dual(o).tangent
fw.exit_dual_level()
