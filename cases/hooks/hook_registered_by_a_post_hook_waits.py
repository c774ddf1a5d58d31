"""A hook that a node's post hook registers on the same node runs from the next backward on, and nothing runs twice.

topic: hooks
features: hooks, register_hook, grad_fn, retain_graph
rule: torch.autograd.graph.Node.register_hook
source: probed on torch 2.13.0
"""

import torch

x = torch.ones(2, requires_grad=True)
y = x * 2.0
log = []

def first(*gradients):
    log.append("first")
    y.grad_fn.register_hook(lambda *g: log.append("new"))

y.grad_fn.register_hook(first)
y.grad_fn.register_hook(lambda *g: log.append("second"))
y.sum().backward(retain_graph=True)
print(log)
y.sum().backward()
print(log)
t = x * 2.0
u = x.clone()
reached = []
torch.autograd.graph.register_multi_grad_hook((t, u), lambda g: reached.append([e is not None for e in g]))
(u * 2.0).sum().backward(inputs=(t, u))
print(reached)
