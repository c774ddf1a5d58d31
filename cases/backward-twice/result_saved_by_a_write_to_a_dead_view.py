"""What a write to a view saved lives on with those who saved its result, when the view and the base's node are gone.

topic: backward-twice
features: in-place, views, create_graph, CopySlices
rule: torch.autograd.grad
source: probed on torch 2.13.0
"""

import torch

p = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
for op in ("exp_", "sigmoid_", "tanh_", "sqrt_", "reciprocal_"):
    x = p.clone()
    getattr(x[:2], op)()
    (gradient,) = torch.autograd.grad((x * x).sum(), p, create_graph=True)
    print(op, gradient, torch.autograd.grad(gradient.sum(), p))
