"""At zero of either sign the slope of logit is infinite; beyond, NaN; eps cuts it off, a NaN as well.

topic: numerics
features: logit, signed-zero, nan, create-graph
rule: torch.logit
"""

import torch

p = torch.tensor([0.0, -0.0, 1.0, 0.25, -0.5, float("nan")], requires_grad=True)
(plain,) = torch.autograd.grad(torch.logit(p).sum(), p)
(recorded,) = torch.autograd.grad(torch.logit(p).sum(), p, create_graph=True)
(cut,) = torch.autograd.grad(torch.logit(p, eps=0.125).sum(), p)
(cut_recorded,) = torch.autograd.grad(torch.logit(p, eps=0.125).sum(), p, create_graph=True)
