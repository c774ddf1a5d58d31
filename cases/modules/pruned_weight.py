"""A pruned weight is the product of a mask and the original parameter, which alone gets a gradient: none
where the mask is zero.

topic: modules
features: prune, parameter, forward-pre-hook
rule: torch.nn.utils.prune
"""

import torch
from torch.nn.utils import prune

layer = torch.nn.Linear(3, 2, bias=False)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -4.0]]))
prune.l1_unstructured(layer, "weight", amount=2)
print([name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()])
print(layer.weight, layer.weight.grad_fn.name())
layer(torch.ones(1, 3)).sum().backward()
print(layer.weight_orig.grad)
prune.ln_structured(layer, "weight", amount=1, n=1, dim=0)
print(layer.weight_mask, prune.is_pruned(layer), len(next(iter(layer._forward_pre_hooks.values()))))
prune.remove(layer, "weight")
print(layer.weight, prune.is_pruned(layer))
prune.remove(layer, "weight")  # raises ValueError
prune.random_unstructured(layer, "weight", amount=1.5)  # raises ValueError
prune.l1_unstructured(layer, "weight", amount=7)  # raises ValueError
print([name for name, _ in layer.named_parameters()])
