"""A post-accumulate hook that returns something is an error, raised after grad was written; clearing grad
inside is fine.

topic: hooks
features: hooks, post-accumulate, hook-result, error
rule: torch.Tensor.register_post_accumulate_grad_hook
"""

import torch

a = torch.tensor([1.0], requires_grad=True)
h = a.register_post_accumulate_grad_hook(lambda p: p * 2.0)
(a * 3.0).backward()  # raises hook-result
h.remove()


def clear(p):
    print("clearing", p.grad)
    p.grad = None


h = a.register_post_accumulate_grad_hook(clear)
(a * 3.0).backward()
