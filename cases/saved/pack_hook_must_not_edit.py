"""A pack hook that edits the tensor it is given is refused after the write; one that leaves it alone may
change what is unpacked.

topic: saved
features: saved-tensors-hooks, inplace
rule: torch.autograd.graph.saved_tensors_hooks
source: R161, pytorch/pytorch#62362
"""

import torch


def edit(t):
    t += 2.0
    return t


def pack(t):
    print("pack", t)
    return t


def unpack(t):
    print("unpack", t)
    return t * 10.0


x = torch.ones(2, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(edit, pack):
    y = x * x  # raises saved-tensor
seen = x.detach().clone()
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    z = x * torch.tensor([3.0, 4.0])
z.sum().backward()
