"""A post-accumulate hook may return what it was given; another tensor reaches the next hook, then is refused.

topic: hooks
features: hooks, post-accumulate, hook-result, error
rule: torch.Tensor.register_post_accumulate_grad_hook
"""

import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
a.register_post_accumulate_grad_hook(lambda t: t)
(a * 3.0).sum().backward()
b = torch.tensor([1.0, 2.0], requires_grad=True)
b.register_post_accumulate_grad_hook(lambda t: t.grad)
b.register_post_accumulate_grad_hook(lambda t: print("given", t))
(b * 3.0).sum().backward()  # raises hook-result
c = torch.tensor([1.0, 2.0], requires_grad=True)
c.register_post_accumulate_grad_hook(lambda t: t[:1].detach())
(c * 3.0).sum().backward()  # raises hook-result
