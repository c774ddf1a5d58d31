"""Hooks registered before and after an in-place step watch different values; retain_grad follows the newest.

topic: hooks
features: hooks, inplace, retain-grad
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place
source: R052, pytorch/pytorch#79996
"""

import torch

a = torch.tensor([1.0], requires_grad=True).clone()
h1 = a.register_hook(lambda g: print("before", g))
a.retain_grad()
a.mul_(2.0)
h2 = a.register_hook(lambda g: print("after", g))
(a * 3.0).sum().backward()
kept = a.grad
