"""retain_grad on a leaf does nothing: the gradient is counted once, and retains_grad stays False.

topic: leaf
features: leaf, retain-grad
rule: torch.Tensor.retain_grad
source: R018, Oneflow-Inc/oneflow#8955
"""

import torch

x1 = torch.tensor([2.0], requires_grad=True)
x2 = torch.tensor([5.0], requires_grad=True)
x1.retain_grad()
x2.retain_grad()
y = torch.log(x1) + x1 * x2
y.retain_grad()
y.backward()
flags = [x1.retains_grad, x2.retains_grad, y.retains_grad]
