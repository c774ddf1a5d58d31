"""Six leaves that become ready together run in the order of a binary heap: 0 2 5 4 1 3.

topic: engine
features: engine, cat, accumulate-grad, hooks
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
"""

import torch

leaves = [torch.tensor([float(i)], requires_grad=True) for i in range(6)]
handles = [leaf.register_hook(lambda g, i=i: print("leaf", i)) for i, leaf in enumerate(leaves)]
total = torch.cat(leaves).sum()
total.backward()
