"""detach_ takes the tangent away as well; in inference mode it does nothing at all.

topic: forward-mode
features: forward mode, detach_, inference mode, make_dual
rule: torch.Tensor.detach_
source: probed on torch 2.13.0
"""

import torch
import torch.autograd.forward_ad as fwAD

with fwAD.dual_level():
    copy = fwAD.make_dual(torch.ones(2), torch.ones(2)).clone()
    copy.detach_()
    print(fwAD.unpack_dual(copy).tangent)
leaf = torch.ones(2, requires_grad=True)
product = leaf * 2.0
with torch.inference_mode():
    leaf.detach_()
    leaf[0].detach_()
    product.detach_()
    made = torch.ones(2)
print(leaf.requires_grad, product.grad_fn)
with fwAD.dual_level():
    print(fwAD.unpack_dual(fwAD.make_dual(made, torch.ones(2))).tangent)
