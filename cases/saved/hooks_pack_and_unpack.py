"""The pack hook runs in the forward once per saved tensor, the unpack hook once per use in backward.

topic: saved
features: saved-tensors-hooks
rule: torch.autograd.graph.saved_tensors_hooks
"""

import torch


def pack(t):
    print("pack", t)
    return t.tolist()


def unpack(numbers):
    print("unpack", numbers)
    return torch.tensor(numbers)


x = torch.tensor([2.0, 3.0], requires_grad=True)
w = torch.tensor([5.0, 7.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x * w
y.sum().backward()
