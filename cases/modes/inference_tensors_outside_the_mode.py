"""An inference tensor has no version, and outside the mode it can be neither changed in place nor made to
require grad.

topic: modes
features: inference-mode, version-counter, inference
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#inference-mode
source: R152, k2-fsa/k2#1210
"""

import torch

with torch.inference_mode():
    t = torch.ones(2)
flag = t.is_inference()
v = t._version  # raises inference
t.add_(1.0)  # raises inference
with torch.inference_mode():
    t.add_(1.0)
t.requires_grad_()  # raises leaf-flag
