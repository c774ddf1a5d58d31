"""Inside hooks grad mode is on exactly when create_graph is, whatever mode the caller is in.

topic: engine
features: engine, hooks, grad-mode, create-graph
rule: torch.Tensor.register_hook
"""

import torch

a = torch.tensor([2.0], requires_grad=True)
b = a * a
h = b.register_hook(lambda g: print("grad mode", torch.is_grad_enabled()))
b.backward(retain_graph=True)
with torch.no_grad():
    g = torch.autograd.grad(b, a, create_graph=True)[0]
g.requires_grad
