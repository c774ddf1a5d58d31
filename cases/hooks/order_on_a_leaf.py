"""On a leaf: tensor hooks, accumulator prehooks, grad is written, post-accumulate hooks, accumulator
posthooks.

topic: hooks
features: hooks, post-accumulate, accumulate-grad
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#backward-hooks-execution
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
node = b.grad_fn.next_functions[0][0]
h1 = node.register_hook(lambda gi, go: print("accumulator posthook", gi, go))
h2 = a.register_post_accumulate_grad_hook(lambda p: print("post-accumulate", p.grad))
h3 = node.register_prehook(lambda gs: print("accumulator prehook", gs, a.grad))
h4 = a.register_hook(lambda g: print("tensor hook", g, a.grad))
b.backward()
