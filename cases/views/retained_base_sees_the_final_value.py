"""retain_grad on a base whose view is then changed in place keeps the gradient of the base's final value.

topic: views
features: view, retain-grad, inplace
rule: torch.Tensor.retain_grad
source: R038, pytorch/pytorch#117366
"""

import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
base = x.clone()
base.retain_grad()
view = base[:2]
view.mul_(5.0)
(base * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
kept = base.grad
