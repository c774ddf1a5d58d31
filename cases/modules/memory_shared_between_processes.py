"""share_memory marks the memory: whatever shows it is shared, a copy is not.

topic: modules
features: module, storage, copy
rule: torch.nn.Module.share_memory
"""

import copy

import torch

layer = torch.nn.Linear(2, 1)
layer.share_memory()
shared = [p.is_shared() for p in layer.parameters()]
row = layer.weight[0].is_shared()
memory = layer.weight.untyped_storage().is_shared()
copied = copy.deepcopy(layer).weight.is_shared()
base = torch.zeros(2)
base[1:].share_memory_()
whole = base.is_shared()
nowhere = layer.cuda()  # raises AssertionError
wrapped = torch.nn.DataParallel(layer)
names = list(wrapped.state_dict())
