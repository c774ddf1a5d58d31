"""Where mutation of saved tensors is allowed, a saved view outlives a write to its base; PyTorch forgets views that begin elsewhere.

topic: saved
features: allow_mutation_on_saved_tensors, view, in-place, silent
rule: torch.autograd.graph.allow_mutation_on_saved_tensors
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    t = x * 1.0
    y = t[0] * t[1]
    t.mul_(10.0)
    y.backward()
