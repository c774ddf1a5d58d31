"""What an unpack hook returns takes the place in the graph that the saved tensor had.

topic: saved
features: saved-tensors-hooks
rule: torch.autograd.graph.saved_tensors_hooks
"""

import torch

x = torch.tensor([0.5, 1.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
    y = x.sin().exp()
result = y.grad_fn._saved_result
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
(h,) = torch.autograd.grad(g.sum(), x)
