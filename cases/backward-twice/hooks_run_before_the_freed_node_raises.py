"""On the second pass the tensor hook and the prehook of a freed node still run; the formula is what raises.

topic: backward-twice
features: freed-graph, hooks
rule: torch.autograd.graph.Node.register_prehook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
e = a.exp()
e.backward()
h1 = e.register_hook(lambda g: print("tensor hook"))
h2 = e.grad_fn.register_prehook(lambda gs: print("prehook"))
h3 = e.grad_fn.register_hook(lambda gi, go: print("posthook"))
e.backward()  # raises freed-graph
