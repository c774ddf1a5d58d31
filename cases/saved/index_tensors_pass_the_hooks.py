"""The index tensors that a node saves as a list go through saved-tensor hooks one by one.

topic: saved
features: saved-tensors-hooks, indexing
rule: torch.autograd.graph.saved_tensors_hooks
"""

import torch


def pack(tensor):
    print("pack", tensor)
    return [tensor]


def unpack(packed):
    print("unpack", packed[0])
    return packed[0]


x = torch.arange(6.0).reshape(2, 3).requires_grad_()
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x[:, torch.tensor([2, 0])]
    z = x[x > 1.0]
none, columns = y.grad_fn._saved_indices
(y.sum() + z.sum()).backward()
w = x[torch.tensor([0])]
w.grad_fn._raw_saved_indices[0].register_hooks(lambda index: index + 1, lambda index: index)
w.sum().backward()
