"""torch.save keeps shared memory shared, gives a non-leaf back as a leaf, and leaves .grad behind.

topic: copies
features: save, load, storage, leaf
rule: torch.save, torch.load
"""

import io

import torch

x = torch.arange(4.0, requires_grad=True)
(x * x).sum().backward()
file = io.BytesIO()
torch.save({"x": x.detach(), "part": x.detach()[1:], "leaf": x, "made": x * 2.0}, file)
file.seek(0)
read = torch.load(file)
read["part"].fill_(9.0)
leaf, made = read["leaf"], read["made"]
leaf.grad, made.is_leaf, made.requires_grad
