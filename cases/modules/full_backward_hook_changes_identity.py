"""A full backward hook makes Identity return a new tensor when the input requires grad, and the same tensor
when not.

topic: modules
features: module-hooks, identity, grad-fn
rule: torch.nn.Module.register_full_backward_hook
source: R068, pytorch/pytorch#61446
"""

import torch

identity = torch.nn.Identity()
h = identity.register_full_backward_hook(lambda module, grad_input, grad_output: None)
plain = torch.tensor([1.0])
leaf = torch.tensor([1.0], requires_grad=True)
same_plain = identity(plain) is plain
same_leaf = identity(leaf) is leaf
name = type(identity(leaf).grad_fn).__name__
