"""The mode before the block comes back when the block raises.

topic: modes
features: no-grad, error
rule: torch.no_grad
"""

import torch

x = torch.tensor([1.0], requires_grad=True)
with torch.no_grad():
    y = x * 2.0
    raise ValueError("stop")  # raises ValueError
enabled = torch.is_grad_enabled()
z = x * y
