"""set_grad_enabled(False) as a decorator works inside the function only; as a plain call it switches the
caller's mode.

topic: modes
features: set-grad-enabled, decorator
rule: torch.autograd.grad_mode.set_grad_enabled
source: R148, pytorch/pytorch#113298
"""

import torch

start = torch.is_grad_enabled()


@torch.set_grad_enabled(False)
def inside(x):
    return (x * 2.0).requires_grad


after = torch.is_grad_enabled()
x = torch.tensor(1.0, requires_grad=True)
was = inside(x)
torch.set_grad_enabled(False)
switched = torch.is_grad_enabled()
y = x * 2.0
