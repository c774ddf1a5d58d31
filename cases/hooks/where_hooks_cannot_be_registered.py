"""A tensor without grad takes no hook and no retain_grad, and a non-leaf takes no post-accumulate hook.

topic: hooks
features: hooks, no-grad, error
rule: torch.Tensor.register_hook
"""

import torch

plain = torch.ones(1)
plain.register_hook(print)  # raises no-grad
plain.retain_grad()  # raises no-grad
plain.register_post_accumulate_grad_hook(print)  # raises no-grad
a = torch.tensor([1.0], requires_grad=True)
b = a * 2.0
b.register_post_accumulate_grad_hook(print)  # raises RuntimeError
a.register_hook(print, prepend=True)  # raises argument
