"""The function runs again in backward, once per backward, and its nodes are ordinary ones.

topic: checkpoint
features: checkpoint, retain-graph
rule: torch.utils.checkpoint.checkpoint
"""

import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor(1.0, requires_grad=True)


def f(t):
    print("run", torch.is_grad_enabled(), t is x)
    return t.sin() * 2


y = checkpoint(f, x, use_reentrant=False)
y.backward(retain_graph=True)
y.backward()
y.backward()  # raises freed-graph
