"""What the first hook returns is what later tensor hooks and node prehooks see; grad up to that tensor skips
the node.

topic: hooks
features: hooks, node-prehook, grad
rule: torch.Tensor.register_hook, torch.autograd.graph.Node.register_prehook
source: R062, pytorch/pytorch#85849
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
y = x * 2.0
h1 = y.register_hook(lambda g: g + 1.0)
h2 = y.register_hook(lambda g: print("second hook", g))
h3 = y.grad_fn.register_prehook(lambda gs: print("node prehook", gs))
z = (y * 3.0).sum()
g = torch.autograd.grad(z, y, retain_graph=True)[0]
z.backward()
