"""autograd.grad on a leaf runs its tensor hooks only; backward with inputs runs the accumulator and all its
hooks.

topic: hooks
features: hooks, grad, accumulate-grad, post-accumulate
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#whether-a-particular-hook-will-be-fired
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
b = a + 1.0
node = b.grad_fn.next_functions[0][0]
h1 = a.register_hook(lambda g: print("tensor hook"))
h2 = node.register_prehook(lambda gs: print("accumulator prehook"))
h3 = node.register_hook(lambda gi, go: print("accumulator posthook"))
h4 = a.register_post_accumulate_grad_hook(lambda p: print("post-accumulate"))
g = torch.autograd.grad(b, a)
b.backward(inputs=[a])
