"""A tensor that retains its gradient is detached in place and becomes part of a graph again; PyTorch fails an internal
assertion there.

topic: leaf
features: detach, retain-grad, inplace, torch-bug
rule: torch.Tensor.detach_, torch.Tensor.retain_grad
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
c = a * a
c.retain_grad()
c.detach_()
c.add_(a)  # raises RuntimeError
c.sum().backward()
