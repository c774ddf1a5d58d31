"""no_grad does not stop tangents; inference mode and _set_fwd_grad_enabled(False) do, detach drops them.

topic: forward-mode
features: dual-tensor, no-grad, inference-mode
rule: torch.autograd.forward_ad.unpack_dual
"""

import torch

fw = torch.autograd.forward_ad
with fw.dual_level():
    d = fw.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    with torch.no_grad():
        print(d * 3)
    with torch.inference_mode():
        print(d * 3)
    with fw._set_fwd_grad_enabled(False):
        print(d, d * 3)
    print(d.detach(), d.data, d.clone(), d > 1, torch.zeros_like(d))
