"""Each write to a view puts one more CopySlices node on the base's history.

topic: views
features: view, inplace, copy-slices, next-functions
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = x.clone()
base[0].mul_(2.0)
base[1].mul_(3.0)
newest = base.grad_fn
older = newest.next_functions[0][0]
oldest = older.next_functions[0][0]
names = [newest.name(), older.name(), oldest.name()]
base.sum().backward()
