"""A node called by hand gives the gradients of its inputs, calls no hook and frees nothing.

topic: engine
features: engine, grad-fn, hooks
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

import torch

a = torch.tensor([2.0], requires_grad=True)
b = a * a
node = b.grad_fn
h = b.register_hook(lambda g: print("tensor hook"))
k = node.register_prehook(lambda gs: print("node prehook"))
with torch.no_grad():
    first = node(torch.ones(1))
    second = node(torch.ones(1))
b.backward()
