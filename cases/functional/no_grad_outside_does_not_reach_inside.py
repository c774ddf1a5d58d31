"""The function runs with grad mode on, whatever the caller's mode; with create_graph the product too.

topic: functional
features: functional, no-grad-mode, create-graph
rule: torch.autograd.functional.vjp
source: transforms D6
"""

import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    a = torch.autograd.functional.vjp(lambda t: t**2, x, torch.ones(2))
    b = torch.autograd.functional.vjp(lambda t: t**2, x, torch.ones(2), create_graph=True)
    c = torch.autograd.functional.jacobian(lambda t: t**2, x, create_graph=True)
