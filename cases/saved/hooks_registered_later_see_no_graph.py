"""Hooks put on a saved tensor after the forward see it detached; what they unpack takes its place there.

topic: saved
features: saved-tensors, saved-tensor-hooks, double-backward
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#hooks-for-saved-tensors
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
saved = y.grad_fn._raw_saved_result
saved.register_hooks(lambda t: print("pack", t) or t, lambda t: print("unpack", t) or t * 1.0)
print(y.grad_fn._saved_result)
(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
g.sum().backward()
z = x * x
z.grad_fn._raw_saved_self.register_hooks(lambda t: print("pack", t) or "kept", lambda t: torch.ones(2))
print(z.grad_fn._raw_saved_self.data, z.grad_fn._saved_self)
