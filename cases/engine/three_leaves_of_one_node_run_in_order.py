"""Three leaves that become ready together run in the order of the node's inputs.

topic: engine
features: engine, stack, accumulate-grad, hooks
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#how-autograd-encodes-the-history
"""

import torch

x = torch.tensor(1.0, requires_grad=True)
y = torch.tensor(2.0, requires_grad=True)
z = torch.tensor(3.0, requires_grad=True)
hz = z.register_hook(lambda g: print("z", g))
hx = x.register_hook(lambda g: print("x", g))
hy = y.register_hook(lambda g: print("y", g))
torch.stack([x, y, z]).backward(torch.tensor([10.0, 20.0, 30.0]))
