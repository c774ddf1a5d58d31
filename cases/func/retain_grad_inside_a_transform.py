"""retain_grad is refused inside a transform, on tensors from outside too.

topic: func
features: func, retain-grad, error
rule: https://docs.pytorch.org/docs/stable/func.ux_limitations.html
"""

import torch

x = torch.tensor([1.0, 2.0])
outer = torch.ones(2, requires_grad=True) * 2
torch.func.grad(lambda t: t.retain_grad() or t.sum())(x)  # raises RuntimeError
torch.func.grad(lambda t: outer.retain_grad() or t.sum())(x)  # raises RuntimeError
torch.vmap(lambda t: t.retain_grad() or t)(x)  # raises RuntimeError
outer.retain_grad()
