"""set_grad_enabled(flag) serves training and evaluation with one block; it wants a bool.

topic: modes
features: set-grad-enabled, grad-mode
rule: torch.autograd.grad_mode.set_grad_enabled
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.set_grad_enabled(False):
    evaluated = x * 2.0
with torch.set_grad_enabled(True):
    trained = x * 2.0
trained.sum().backward()
torch.set_grad_enabled(1)  # raises argument
