"""autograd.grad runs the nodes between root and input and nothing else; the other branch is neither visited
nor freed.

topic: engine
features: engine, grad, hooks, freed-graph
rule: torch.autograd.grad
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = torch.tensor([2.0], requires_grad=True)
u = a * 2.0
v = b.exp()
w = u * v
h = [
    u.register_hook(lambda g: print("u")),
    v.register_hook(lambda g: print("v")),
    w.register_hook(lambda g: print("w")),
]
g = torch.autograd.grad(w, a)
v.backward()
