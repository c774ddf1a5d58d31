"""enable_grad inside no_grad records again, for its own block.

topic: modes
features: no-grad, enable-grad
rule: torch.enable_grad
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    outside = x * 2.0
    with torch.enable_grad():
        inside = x * 3.0
    again = torch.is_grad_enabled()
inside.sum().backward()
