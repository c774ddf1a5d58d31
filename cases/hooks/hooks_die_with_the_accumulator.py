"""A leaf's accumulator lives as long as something holds it, and hooks registered on the node are gone with
it.

topic: hooks
features: hooks, accumulate-grad
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
h1 = a.view_as(a).grad_fn.next_functions[0][0].register_prehook(lambda gs: print("lost"))
h2 = a.register_hook(lambda g: print("tensor hook"))
(a * 2.0).backward()
node = a.view_as(a).grad_fn.next_functions[0][0]
h3 = node.register_prehook(lambda gs: print("kept"))
(a * 2.0).backward()
